import { BlockList, isIPv6 } from "node:net";
import { type AddressKind, addressKind, destinations } from "./address-kind.ts";
import { hostName, matchesHost, parseHostPattern } from "./host-pattern.ts";
import { isRange, type NetworkSettings } from "./network-settings.ts";

/** The destination of a connection. */
export interface Destination {
  /** As the URL has it. */
  readonly host: string;
  readonly port: number;
  /** An address that `host` resolves to, or `host` itself. Undefined before the lookup: then only the host is judged. */
  readonly address: string | undefined;
  /** The registry, `host` or `host:port`, that named this URL as its token service. */
  readonly tokenServiceOf?: string | undefined;
}

/**
 * Why a connection is refused, with how to allow it; undefined if it is allowed. This one function judges every connection to a
 * host that a tenant's object names. Hosts that the installation names itself (its clusters, AWS) are not judged.
 */
export type NetworkPolicy = (destination: Destination) => string | undefined;

/** `functions`: a connection to this machine is refused. `home`: the user's own machine, registry and cluster are allowed. */
export type Place = "functions" | "home";

const refusedAt: Readonly<Record<Place, ReadonlySet<AddressKind>>> = {
  functions: new Set(["link-local", "loopback", "metadata", "multicast", "reserved", "unspecified"]),
  home: new Set(["link-local", "metadata"]),
};
/** The default of `network.unlisted`. */
export const unlistedAt = { functions: "public", home: "anything" } as const;

/** The policy of an installation. `own`: further entries of `allow`, which need no setting. */
export function networkPolicy(
  { allow, unlisted: wanted }: NetworkSettings,
  place: Place,
  own: readonly string[] = [],
): NetworkPolicy {
  const entries = [...allow, ...own];
  const refused = refusedAt[place];
  const unlisted = wanted ?? unlistedAt[place];
  const patterns = entries.flatMap((entry) => (isRange(entry) ? [] : (parseHostPattern(entry) ?? [])));
  const ranges = rangesOf(entries.filter(isRange));
  const isInRange = (address: string): boolean => ranges.check(address, isIPv6(address) ? "ipv6" : "ipv4");

  return ({ host, port, address, tokenServiceOf }) => {
    const ends = address === undefined ? [] : destinations(address);
    const closed = ends.find((end) => refused.has(addressKind(end)));
    if (closed !== undefined) return `${what(host, address, closed)}: Sluice never connects there`;
    if (unlisted === "anything" || patterns.some((pattern) => matchesHost(pattern, host, port))) return undefined;
    if (tokenServiceOf !== undefined && !isOwnTokenService(host, tokenServiceOf)) {
      return `registry ${tokenServiceOf} asks to log in at another host, '${host}': ${mend}`;
    }
    const outside = ends.filter((end) => !isInRange(end));
    if (outside.length === 0) return undefined;
    if (unlisted === "refused") return `host '${host}' is not on the installation's list: ${mend}`;
    const other = outside.find((end) => addressKind(end) !== "public");
    return other === undefined ? undefined : `${what(host, address, other)}: ${mend}`;
  };
}

/** The policy of a command that the user starts: everything that the machine can reach, except services that hand out its credentials. */
export const homeNetwork: NetworkPolicy = networkPolicy({ allow: [] }, "home");

const mend = "the installation allows it with network.allow in its settings";

const spoken: Readonly<Record<AddressKind, string>> = {
  "link-local": "a link-local address",
  loopback: "a loopback address",
  metadata: "an address of services of the instance",
  multicast: "a multicast address",
  private: "a private address",
  public: "a public address",
  reserved: "a reserved address",
  unspecified: "an unspecified address",
};

/** What kind of address this is, and whether connections to it are allowed. */
function what(host: string, address = host, end = address): string {
  const where = hostName(host) === hostName(address) ? address : `host '${host}' resolves to ${address}, which`;
  const [bare] = address.split("%"); // without a zone
  const is = bare === end ? "is" : `stands for ${end},`;
  return `${where} ${is} ${spoken[addressKind(end)]}`;
}

/** Registries whose token service is known to be on another host. */
const knownTokenServices: Readonly<Record<string, string>> = {
  "docker.io": "auth.docker.io",
  "index.docker.io": "auth.docker.io",
  "registry-1.docker.io": "auth.docker.io",
  "registry.digitalocean.com": "api.digitalocean.com",
  "registry.gitlab.com": "gitlab.com",
};

function isOwnTokenService(host: string, registry: string): boolean {
  const own = URL.canParse(`http://${registry}`) ? hostName(new URL(`http://${registry}`).hostname) : registry;
  const known = Object.hasOwn(knownTokenServices, own) ? knownTokenServices[own] : undefined;
  return [own, known].includes(hostName(host));
}

function rangesOf(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [network = "", bits] = text.split("/");
    list.addSubnet(network, Number(bits), isIPv6(network) ? "ipv6" : "ipv4");
  }
  return list;
}
