import { z } from "zod";
import type { GateType } from "../../api/canary.ts";
import { promoteAnnotation, type rollbackAnnotation } from "../../api/names.ts";
import type { Canary } from "../../canary/canary.ts";

/** Clocks of users may be so far off. */
const skewMs = 5 * 60_000;

/** No revision and no time is longer. The work item keeps the request. */
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

interface Asked {
  readonly canary: Pick<Canary, "live" | "status">;
  readonly handled: Handled;
}

/**
 * Whether a user asks for this of the run in flight, by an annotation of the Canary: its value begins with the revision that the run releases,
 * or with a time since the run began. A value that an earlier run has done asks for nothing.
 */
export function isAskedFor(annotation: ByHand, { canary, handled }: Asked): boolean {
  const asked = askedBy(canary, annotation);
  if (asked === undefined || asked === handled[annotation]) return false;
  const [value = ""] = asked.split(" ");
  const { conditions = [], lastAppliedSpec } = canary.status;
  if (value === lastAppliedSpec) return true;
  const promoted = conditions.find(({ type }) => type === "Promoted");
  if (!Time.safeParse(value).success || promoted?.status !== "Unknown") return false;
  return Date.parse(value) >= Date.parse(promoted.lastTransitionTime) - skewMs;
}

/**
 * Whether a user has opened this gate for the run in flight. A value may name the gate after the time, and the weight from which
 * `confirm-traffic-increase` is then open (`2026-11-29T10:00:00Z confirm-traffic-increase 20`); without a gate it opens all gates of
 * the run. The gate is in the value, so that a step that is repeated, or has lost the work item's state, opens no other gate.
 */
export function isOpenedByHand(gate: GateType, asked: Asked): boolean {
  if (!isAskedFor(promoteAnnotation, asked)) return false;
  const { canary } = asked;
  const [, only = gate, weight] = (askedBy(canary, promoteAnnotation) ?? "").split(" ");
  return only === gate && (weight === undefined || weight === String(canary.status.canaryWeight ?? 0));
}
