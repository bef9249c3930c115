import { isJsonObject, type JsonObject } from "../lib/core/json.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { textAt, valueAt } from "./objects/read-object.ts";

/** An Event of a Canary. */
export interface CanaryEvent {
  /** RFC 3339: when it was first told. */
  readonly when: string;
  /** When it was last told, and how often. */
  readonly last: string;
  readonly count: number;
  readonly isWarning: boolean;
  readonly message: string;
}

/** One row of the line of time. */
export interface Moment {
  readonly when: string;
  /** What share of the requests the canary got from then on, as `10%`; `?` before the first event that tells it. */
  readonly canary: string;
  readonly what: string;
  readonly message: string;
}

/**
 * What has happened to a Canary, oldest first, with the canary's share of the traffic after each event. Reads Flagger's texts, so it tells
 * the same of a Canary that Flagger steps. The cluster keeps one Event for a text that is told again, also in a later run: it is shown at its
 * first and at its last time where others lie between. Pure.
 *
 * @param events by their first time
 * @param isByMatch whether only matching requests reach the canary while an iteration runs (A/B)
 */
export function canaryTimeline(events: readonly CanaryEvent[], isByMatch: boolean): readonly Moment[] {
  let canary = "?";
  const told = events.flatMap((event) => timesOf(event, events)).toSorted((a, b) => compared(a.when, b.when));
  return told.map(({ when, isWarning, message, again }) => {
    canary = shareAfter(message, isByMatch) ?? canary;
    return { when, canary, what: whatOf(message, isWarning), message: `${message}${again}` };
  });
}

interface Told extends Pick<CanaryEvent, "isWarning" | "message" | "when"> {
  /** How often in all, and until when. */
  readonly again: string;
}

function timesOf({ when, last, count, isWarning, message }: CanaryEvent, all: readonly CanaryEvent[]): readonly Told[] {
  const words = { isWarning, message };
  if (count <= 1) return [{ ...words, when, again: "" }];
  const isSpread = all.some((other) => other.when > when && other.when < last);
  if (!isSpread) return [{ ...words, when, again: ` (${count} times, last ${last})` }];
  return [
    { ...words, when, again: "" },
    { ...words, when: last, again: ` (${count} times since ${when})` },
  ];
}

function compared(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Each with what it says of the canary's share. */
const shares: readonly (readonly [text: RegExp, share: (weight: number) => string])[] = [
  [/^Advance \S+ canary weight (\d+)/, (weight) => `${weight}%`],
  [/^Advance \S+ primary weight (\d+)/, (weight) => `${100 - weight}%`],
  [/^Routing all traffic to canary|^Stop traffic mirroring and route all traffic to canary/, () => "100%"],
  [/^Canary failed! Keeping .* all traffic stays on it$/, () => "100%"],
  [
    /^(?:Initialization done!|New revision detected!|Routing all traffic to primary|Canary failed! Scaling down |Promotion completed!)/,
    () => "0%",
  ],
  [/ was scaled to zero during its analysis: /, () => "0%"],
];

function shareAfter(message: string, isByMatch: boolean): string | undefined {
  if (isByMatch && /^Advance \S+ canary iteration /.test(message)) return "matches";
  for (const [text, share] of shares) {
    const found = text.exec(message);
    if (found !== null) return share(Number(found[1]));
  }
  return undefined;
}

/** The first that fits says what an event is. */
const kinds: readonly (readonly [text: RegExp, what: string])[] = [
  [/^(?:Promotion of \S+ failed, |Canary failed! Keeping )/, "failed"],
  [/ advancement waiting for | not ready: |^waiting for /, "waits"],
  [/^Halt \S+ advancement /, "check failed"],
  [/^(?:Rolling back |Canary failed!|Rollback check )/, "rolled back"],
  [/^Post-rollout hook .* failed /, "hook failed"],
  [/^(?:New revision detected!|Starting canary analysis)/, "began"],
  [/^(?:Advance |Routing all traffic to canary|Stop traffic mirroring )/, "advanced"],
  [/ check \S+ passed$/, "passed"],
  [/^(?:Copying |Routing all traffic to primary|Promotion completed!)/, "promoted"],
  [/^Initialization done!/, "initialized"],
  [/^skipping canary run as object is suspended/, "suspended"],
  [/^Terminat(?:ing|ed) canary /, "deleted"],
];

function whatOf(message: string, isWarning: boolean): string {
  const [, what] = kinds.find(([text]) => text.test(message)) ?? [];
  return what ?? (isWarning ? "error" : "");
}

/** By backend, in percent. */
export type Shares = ReadonlyMap<string, number>;

/** What a route sends where. */
export interface RouteShares {
  /** The shares of the last rule with the canary: rules for cookies come before it. */
  readonly ofCanary: Shares;
  /** The shares of the last rule, for all other requests, if it does not have the canary. */
  readonly ofOthers: Shares;
}

/** The shares of each backend in a route; empty where no rule has them. Pure. */
export function routeShares(route: LiveObject, canary: string): RouteShares {
  const rules = listAt(route, "spec", "rules").map((rule) => listAt(rule, "backendRefs").map(backendOf));
  const withCanary = rules.findLast((rule) => rule.some(([name]) => name === canary)) ?? [];
  const last = rules.at(-1) ?? [];
  return { ofCanary: sharesOf(withCanary), ofOthers: sharesOf(last === withCanary ? [] : last) };
}

type Backend = readonly [name: string, weight: number];

function sharesOf(backends: readonly Backend[]): Shares {
  const sum = backends.reduce((total, [, weight]) => total + weight, 0);
  return new Map(sum === 0 ? [] : backends.map(([name, weight]) => [name, Math.round((weight / sum) * 100)]));
}

function listAt(object: LiveObject | JsonObject, ...path: readonly string[]): readonly JsonObject[] {
  const list = valueAt(object, ...path);
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function backendOf(ref: JsonObject): Backend {
  const weight = valueAt(ref, "weight");
  return [textAt(ref, "name"), typeof weight === "number" ? weight : 1];
}

/** An Event as the cluster has it. */
export function canaryEvent(event: LiveObject): CanaryEvent {
  const [first, last] = [textAt(event, "firstTimestamp"), textAt(event, "lastTimestamp")];
  const when = first === "" ? textAt(event, "eventTime") : first;
  const count = valueAt(event, "count");
  return {
    when,
    last: last === "" ? when : last,
    count: typeof count === "number" ? count : 1,
    isWarning: textAt(event, "type") === "Warning",
    message: textAt(event, "message"),
  };
}
