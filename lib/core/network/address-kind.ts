import { BlockList, isIPv6 } from "node:net";

/**
 * The purpose of an address. `metadata`: services of a cloud for one instance, which include its credentials. `private`: networks outside
 * the internet (RFC 1918, carrier-grade NAT, unique local, benchmarks).
 */
export type AddressKind =
  | "link-local"
  | "loopback"
  | "metadata"
  | "multicast"
  | "private"
  | "public"
  | "reserved"
  | "unspecified";

/** The first range that contains an address decides, since addresses of instance services lie inside other ranges. */
const kinds: readonly { readonly kind: AddressKind; readonly list: BlockList }[] = [
  // AWS on IPv6 (on IPv4 it is link-local, as Google's and Azure's), Google on IPv6, Alibaba, Oracle, Azure's host.
  ranges("metadata", "fd00:ec2::/32", "fd20:ce::254/128", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32"),
  ranges("unspecified", "0.0.0.0/8", "::/128"),
  ranges("loopback", "127.0.0.0/8", "::1/128"),
  ranges("link-local", "169.254.0.0/16", "fe80::/10"),
  ranges("private", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15"),
  ranges("private", "fc00::/7", "fec0::/10"),
  ranges("multicast", "224.0.0.0/4", "ff00::/8"),
  ranges("reserved", "240.0.0.0/4"),
];

/** The kind of an address that {@link destinations} has answered. */
export function addressKind(address: string): AddressKind {
  const known = knownKinds.get(address);
  if (known !== undefined) return known;
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  const kind = kinds.find(({ list }) => list.check(address, family))?.kind ?? "public";
  if (knownKinds.size >= maxKnownKinds) knownKinds.clear();
  knownKinds.set(address, kind);
  return kind;
}

/** Each request asks for its host again. */
const knownKinds = new Map<string, AddressKind>();
const maxKnownKinds = 1_000;

/** An IPv6 range whose addresses contain IPv4 addresses: the first groups of the range, and the positions of the IPv4 bytes. */
interface Embedding {
  readonly prefix: readonly number[];
  readonly at: readonly (readonly [number, number, number, number])[];
  /** The first byte that is written as its complement, as are all bytes after it. */
  readonly inverted?: number;
}

const last = [12, 13, 14, 15] as const;
/** RFC 4291. Node already treats such an address as the IPv4 address. */
const mapped: Embedding = { prefix: [0, 0, 0, 0, 0, 0xffff], at: [last] };
const embeddings: readonly Embedding[] = [
  mapped,
  // Compatible (RFC 4291), translated by SIIT (RFC 2765).
  { prefix: [0, 0, 0, 0, 0, 0], at: [last] },
  { prefix: [0, 0, 0, 0, 0xffff, 0], at: [last] },
  // NAT64 (RFC 6052), and NAT64 of a local network (RFC 8215), whose prefix has a length of 48 or more.
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: [last] },
  { prefix: [0x64, 0xff9b, 1], at: [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], last] },
  // 6to4 (RFC 3056). Teredo (RFC 4380): its server, and the client behind it.
  { prefix: [0x2002], at: [[2, 3, 4, 5]] },
  { prefix: [0x2001, 0], at: [[4, 5, 6, 7], last], inverted: 12 },
];

/**
 * Where a connection to this address may end: at itself, or at the IPv4 addresses that it contains. The length of a NAT64 prefix
 * is unknown, so every reading counts, except readings in 0.0.0.0/8 if there is another one.
 */
export function destinations(address: string): readonly string[] {
  const [bare = ""] = address.split("%"); // a zone: fe80::1%eth0
  if (!isIPv6(bare)) return [bare];
  const groups = groupsOf(bare);
  const embedding = embeddings.find(({ prefix }) => prefix.every((group, index) => group === groups[index]));
  if (embedding === undefined || (embedding !== mapped && addressKind(bare) !== "public")) return [bare];
  const { at, inverted = 16 } = embedding;
  const bytes = groups
    .flatMap((group) => [group >> 8, group & 0xff])
    .map((byte, index) => (index >= inverted ? 255 - byte : byte));
  const readings = at.map((indexes) => indexes.map((index) => bytes[index]).join("."));
  const addresses = readings.filter((reading) => !reading.startsWith("0."));
  return addresses.length === 0 ? readings : addresses;
}

function ranges(kind: AddressKind, ...subnets: readonly string[]) {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = "", bits] = subnet.split("/");
    list.addSubnet(network, Number(bits), isIPv6(network) ? "ipv6" : "ipv4");
  }
  return { kind, list };
}

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): readonly number[] {
  // A URL normalises it: no IPv4 at its end, at most one `::`.
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = text.split("::").map((part) => (part === "" ? [] : part.split(":")));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => "0");
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}
