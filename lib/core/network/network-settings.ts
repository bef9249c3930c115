import { isIP } from "node:net";
import { z } from "zod";
import { parseHostPattern } from "./host-pattern.ts";

/** Of `network.allow`. */
export const maxAllowEntries = 1_000;
/** Of one entry. A DNS name has at most 253 characters. */
export const maxAllowEntryChars = 300;
const entryForm =
  "must be a host such as registry.example.com, *.example.com or registry.example.com:5000, or a range such as 10.20.0.0/16";

/** A host (`registry.example.com`, `*.example.com`, with or without `:PORT`) or a range of addresses (`10.20.0.0/16`). */
const Allowed = z
  .string(entryForm)
  .max(maxAllowEntryChars, entryForm)
  .refine((text) => isRange(text) || parseHostPattern(text) !== undefined, entryForm);

/** The `network` part of the installation's settings: which hosts in tenants' objects Sluice may connect to. */
export const NetworkSettings = z.strictObject(
  {
    /** Hosts that may have private addresses and may be token services, and address ranges that every host may have. */
    allow: z
      .array(Allowed, "must be a list of hosts and ranges")
      .max(maxAllowEntries, `must have at most ${maxAllowEntries} entries`)
      .default([]),
    /** The addresses that a host may have if no entry of `allow` matches it. For the default see `unlistedAt`. */
    unlisted: z.enum(["anything", "public", "refused"], "must be anything, public or refused").exactOptional(),
  },
  { error: ({ code }) => (code === "invalid_type" ? "must have allow, unlisted or both" : undefined) },
);
export type NetworkSettings = Readonly<z.infer<typeof NetworkSettings>>;

/** Whether this is a range of addresses, `network/bits`. */
export function isRange(text: string): boolean {
  const [network = "", bits = "", ...rest] = text.split("/");
  const family = isIP(network);
  return rest.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}
