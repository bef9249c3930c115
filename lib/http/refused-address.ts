import { BlockList, isIPv6 } from "node:net";

/**
 * Addresses that no registry has and that give away what is meant for this machine alone: its own services, credentials
 * (169.254.169.254, 169.254.170.23, and on IPv6 AWS' fd00:ec2::/32), whoever else listens on it. Private ranges are not
 * among them, since registries in a VPC are there.
 */
const kinds = [
  kind("an unspecified address", "0.0.0.0/8", "::/128"),
  kind("a loopback address", "127.0.0.0/8", "::1/128"),
  kind("a link-local address", "169.254.0.0/16", "fe80::/10"),
  kind("an address of services of the instance", "fd00:ec2::/32"),
  kind("a multicast address", "224.0.0.0/4", "ff00::/8"),
  kind("a reserved address", "240.0.0.0/4"),
] as const;

/** IPv4 inside IPv6: mapped, compatible (RFC 4291), NAT64 (RFC 6052) and 6to4 (RFC 3056), by where its first group is. */
const embeddings = [
  { prefix: [0, 0, 0, 0, 0, 0xffff], at: 6 },
  { prefix: [0, 0, 0, 0, 0, 0], at: 6 },
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: 6 },
  { prefix: [0x2002], at: 1 },
] as const;

/** What kind of address this is where it must not be connected to, as `a loopback address`; undefined where it may be. */
export function refusedAddress(address: string): string | undefined {
  const [bare = ""] = address.split("%"); // a zone: fe80::1%eth0
  const family = isIPv6(bare) ? "ipv6" : "ipv4";
  const found = kinds.find(({ list }) => list.check(bare, family));
  if (found !== undefined || family === "ipv4") return found?.name;
  const groups = groupsOf(bare);
  const embedding = embeddings.find(({ prefix }) => prefix.every((group, index) => group === groups[index]));
  if (embedding === undefined) return undefined;
  const bytes = groups.slice(embedding.at, embedding.at + 2).flatMap((group) => [group >> 8, group & 0xff]);
  return refusedAddress(bytes.join("."));
}

function kind(name: string, ...subnets: readonly string[]): { readonly name: string; readonly list: BlockList } {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = "", bits] = subnet.split("/");
    list.addSubnet(network, Number(bits), isIPv6(network) ? "ipv6" : "ipv4");
  }
  return { name, list };
}

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): readonly number[] {
  // A URL writes it in one way: no IPv4 at its end, at most one `::`.
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = text.split("::").map((part) => (part === "" ? [] : part.split(":")));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => "0");
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}
