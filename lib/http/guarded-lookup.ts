import type { LookupAddress, LookupAllOptions } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { Destination, NetworkPolicy } from "../core/network/network-policy.ts";

/** The network policy refuses a destination; the message is the policy's. */
export class DestinationRefused extends Error {
  override readonly name = "DestinationRefused";
}

/** The host that a request is sent to. */
export type Target = Omit<Destination, "address">;

/** The signature of `lookup` in `node:dns`. */
export type Resolve = (
  host: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

/**
 * Throws {@link DestinationRefused} if the host itself is refused. Called for each request, since a kept connection, and a host
 * that is an address, needs no lookup.
 */
export function assertAllowed(target: Target, policy: NetworkPolicy): void {
  const address = target.host.replace(/^\[|\]$/g, "");
  const why = policy({ ...target, address: isIP(address) === 0 ? undefined : address });
  if (why !== undefined) throw new DestinationRefused(why);
}

/**
 * The lookup of a connection, which then uses exactly the addresses that were judged: a second lookup could answer others. One
 * refused address among several refuses the host.
 */
export function guardedLookup(target: Target, policy: NetworkPolicy, resolve: Resolve): LookupFunction {
  return (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, []);
      for (const { address } of found) {
        const why = policy({ ...target, address });
        if (why !== undefined) return callback(new DestinationRefused(why), []);
      }
      const [first] = found;
      if (options.all === true || first === undefined) return callback(null, found);
      return callback(null, first.address, first.family);
    });
  };
}
