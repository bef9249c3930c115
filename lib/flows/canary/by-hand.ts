import { z } from "zod";
import type { promoteAnnotation, rollbackAnnotation } from "../../api/names.ts";
import type { Canary } from "../../canary/canary.ts";

/** Clocks of users may be so far off. */
const skewMs = 5 * 60_000;

/** No revision and no time is longer. The work item keeps what was asked for. */
const maxValueLength = 100;

const Time = z.iso.datetime({ offset: true });

type ByHand = typeof promoteAnnotation | typeof rollbackAnnotation;

/** The values that a run before this one has done, as the work item carries them. */
export const Handled = z.record(z.string(), z.string());
export type Handled = Readonly<z.infer<typeof Handled>>;

/** The value of such an annotation; undefined if it asks for nothing. */
export function askedBy({ live }: Pick<Canary, "live">, annotation: ByHand): string | undefined {
  const value = live.metadata.annotations?.[annotation] ?? "";
  return value === "" || value.length > maxValueLength ? undefined : value;
}

/**
 * Whether a user asks for this of the run in flight, by an annotation of the Canary: its value is the revision that the run releases, or a
 * time since the run began. A value that an earlier run has done asks for nothing.
 */
export function isAskedFor(
  annotation: ByHand,
  { canary, handled }: { readonly canary: Pick<Canary, "live" | "status">; readonly handled: Handled },
): boolean {
  const value = askedBy(canary, annotation);
  if (value === undefined || value === handled[annotation]) return false;
  const { conditions = [], lastAppliedSpec } = canary.status;
  if (value === lastAppliedSpec) return true;
  const promoted = conditions.find(({ type }) => type === "Promoted");
  if (!Time.safeParse(value).success || promoted?.status !== "Unknown") return false;
  return Date.parse(value) >= Date.parse(promoted.lastTransitionTime) - skewMs;
}
