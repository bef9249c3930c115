import { lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";

/** Says what kind of address this is where it must not be connected to, as `a loopback address`. */
export type RefuseAddress = (address: string) => string | undefined;

/** A host is at an address that must not be connected to. */
export class AddressRefused extends Error {
  override readonly name = "AddressRefused";

  constructor(host: string, address: string, kind: string) {
    const where = host === address ? address : `host '${host}' resolves to ${address}, which`;
    super(`${where} is ${kind}: nothing is connected to there`);
  }
}

/** Throws {@link AddressRefused} for a URL whose host is such an address: those are connected to without a lookup. */
export function assertAddressAllowed(url: URL, refuse: RefuseAddress): void {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const kind = isIP(host) === 0 ? undefined : refuse(host);
  if (kind !== undefined) throw new AddressRefused(host, host, kind);
}

/**
 * The lookup of a connection, which then goes to the very addresses that were judged: a name that is asked for twice may
 * have another answer the second time. One bad address among several refuses the host.
 */
export function guardedLookup(refuse: RefuseAddress): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, []);
      for (const { address } of found) {
        const kind = refuse(address);
        if (kind !== undefined) return callback(new AddressRefused(host, address, kind), []);
      }
      const [first] = found;
      if (options.all === true || first === undefined) return callback(null, found);
      return callback(null, first.address, first.family);
    });
  };
}
