import type { CanaryMetric } from "../../api/canary.ts";
import { formatDuration } from "../../core/duration.ts";
import { type Canary, canaryText } from "../canary.ts";
import type { CheckResult } from "./checks.ts";
import { fixed2, goFloat } from "./providers/go-numbers.ts";

/** The type as which a value is compared. A duration is in milliseconds. */
export type Measure = "custom" | "duration" | "success-rate";

/** Compares a value with the thresholds of its metric, in Flagger's words (reference canary 11.1, 11.4). Equal to a bound passes. Pure. */
export function judge(canary: Canary, metric: CanaryMetric, measure: Measure, value: number): CheckResult {
  const { min, max } = boundsOf(metric, measure);
  const { subject, shown, heldTo } = wordsOf[measure](metric.name);
  const compared = heldTo(value);
  const halt = (sign: string, bound: number): CheckResult => ({
    isPassed: false,
    text: `Halt ${canaryText(canary)} advancement ${subject} ${shown(value)} ${sign} ${boundText[measure](bound)}`,
  });
  if (min !== undefined && compared < heldTo(min)) return halt("<", min);
  if (max !== undefined && compared > heldTo(max)) return halt(">", max);
  return { isPassed: true };
}

/** The range, or the threshold that older objects have in its place: the least success rate, and the most of anything else. */
function boundsOf({ threshold = 0, thresholdRange }: CanaryMetric, measure: Measure) {
  if (thresholdRange !== undefined) return { min: thresholdRange.min, max: thresholdRange.max };
  return measure === "success-rate" ? { min: threshold, max: undefined } : { min: undefined, max: threshold };
}

interface Words {
  readonly subject: string;
  readonly shown: (value: number) => string;
  /** What is compared. */
  readonly heldTo: (value: number) => number;
}

const asIs = (value: number): number => value;

const wordsOf: Readonly<Record<Measure, (name: string) => Words>> = {
  "success-rate": () => ({ subject: "success rate", shown: (value) => `${fixed2(value)}%`, heldTo: asIs }),
  duration: () => ({ subject: "request duration", shown: durationText, heldTo: wholeMs }),
  custom: (name) => ({ subject: name, shown: fixed2, heldTo: asIs }),
};

const boundText: Readonly<Record<Measure, (bound: number) => string>> = {
  "success-rate": (bound) => `${goFloat(bound)}%`,
  duration: durationText,
  custom: goFloat,
};

/** The longest duration that Go has; a longer one would be negative there, and pass. */
const maxMs = 9_223_372_036_000;

/** Whole milliseconds, as Flagger turns a number into a duration. */
function wholeMs(ms: number): number {
  return Math.max(-maxMs, Math.min(maxMs, Math.trunc(ms)));
}

function durationText(ms: number): string {
  return formatDuration(wholeMs(ms));
}
