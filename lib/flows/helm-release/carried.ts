import { z } from "zod";
import { type JsonObject, toJsonObject } from "../../core/json.ts";

/** What a run passes on to the next one of the same HelmRelease: hints. Without them a wait begins again, and caches are empty. */
const Carried = z.object({
  /** Failures in a row, for the back-off. */
  failures: z.number().int().min(0).default(0),
  /** Runs that have waited for something: only some of them look for a circle of dependencies. */
  waits: z.number().int().min(0).exactOptional(),
  /** The pass under way: which actions it has run. Another generation, chart or values begin another. */
  pass: z
    .object({
      token: z.string(),
      generation: z.number().int(),
      ran: z.array(z.string()),
      /** When the action began, wall time in milliseconds. */
      startedAt: z.number().exactOptional(),
      wait: z.object({ for: z.string(), since: z.number(), looks: z.number().int() }).exactOptional(),
    })
    .exactOptional(),
  /** The identity of an unchanged release: then only the Secret's metadata is read. */
  settled: z
    .object({ token: z.string(), generation: z.number().int(), uid: z.string(), resourceVersion: z.string() })
    .exactOptional(),
  /** The chart and the values by {@link key}, so that no chart is loaded again. */
  prepared: z
    .object({
      key: z.string(),
      name: z.string(),
      version: z.string(),
      appVersion: z.string().exactOptional(),
      configDigest: z.string(),
    })
    .exactOptional(),
  /** The generation and revision for which dependents were woken. */
  announced: z.string().exactOptional(),
});
export type Carried = Readonly<z.infer<typeof Carried>>;
export type Pass = NonNullable<Carried["pass"]>;

/** Reads the carried state of a run. State of an older or newer release is ignored. */
export function readCarried(carried: JsonObject | undefined): Carried {
  return Carried.safeParse(carried ?? {}).data ?? { failures: 0 };
}

/** The state in its stored form. */
export function toCarried(carried: Carried): JsonObject {
  return toJsonObject({ ...carried });
}
