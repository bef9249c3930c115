import { isIP } from "node:net";
import { z } from "zod";
import { parseHostPattern } from "./host-pattern.ts";

/** Of `network.allow`. */
export const maxAllowEntries = 1_000;
/** Of one of them; a name of DNS has 253. */
export const maxAllowEntryChars = 300;
const entryForm =
  "must be a host such as registry.example.com, *.example.com or registry.example.com:5000, or a range such as 10.20.0.0/16";

/** A host (`registry.example.com`, `*.example.com`, with or without `:PORT`) or a range of addresses (`10.20.0.0/16`). */
const Allowed = z
  .string(entryForm)
  .max(maxAllowEntryChars, entryForm)
  .refine((text) => isRange(text) || parseHostPattern(text) !== undefined, entryForm);

/** Where Sluice may connect to for what a tenant names: the `network` part of the installation's settings. */
export const NetworkSettings = z.strictObject(
  {
    /** Hosts that may be at private addresses and be token services, and ranges of addresses that every host may be at. */
    allow: z
      .array(Allowed, "must be a list of hosts and ranges")
      .max(maxAllowEntries, `must have at most ${maxAllowEntries} entries`)
      .default([]),
    /** What a host that is not allowed by name or range may be at; the default is the place's, see `networkPolicy`. */
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
