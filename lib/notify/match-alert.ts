import { RE2JS } from "re2js";
import type { AlertSpec, EventSource } from "../api/alert.ts";
import { cutText } from "../core/cut-text.ts";
import { subject } from "../core/object-ref.ts";
import type { NotificationEvent } from "./notification-event.ts";

/** The fields of an Alert that decide whether it sends an event. */
export interface MatchedAlert {
  readonly namespace: string;
  readonly spec: AlertSpec;
}

/** A fault that was met while matching, as Flux's Warning event on the Alert says it. */
export interface MatchFault {
  readonly reason: "InvalidConfig" | "SourceFetchFailed";
  readonly message: string;
}

export interface Match {
  readonly isMatch: boolean;
  readonly faults: readonly MatchFault[];
}

/** The labels of an event's object as it is now; undefined if it cannot be read. */
export type LabelsOf = () => Promise<Readonly<Record<string, string>> | undefined>;

/** Whether the Alert sends this event (reference notifications 13). @param labelsOf asked only where a source has `matchLabels` */
export async function matchAlert(event: NotificationEvent, alert: MatchedAlert, labelsOf: LabelsOf): Promise<Match> {
  const { spec } = alert;
  const faults: MatchFault[] = [];
  const isMatch =
    spec.suspend !== true &&
    isOfSeverity(event, spec) &&
    (await isOfSources(event, alert, labelsOf, faults)) &&
    (isEmpty(spec.inclusionList) || isMatched(event, spec.inclusionList, "inclusion", faults)) &&
    !isMatched(event, spec.exclusionList, "exclusion", faults);
  return { isMatch, faults };
}

/** Whether an event of this object may concern the Alert at all, suspended or not. */
export function concerns(event: NotificationEvent, { namespace, spec }: MatchedAlert): boolean {
  return spec.eventSources.some((source) => isNamed(event, source, namespace));
}

/** Whether a source of an Alert in this namespace names the object; its API version does not matter. */
function isNamed({ involvedObject }: NotificationEvent, source: EventSource, namespace: string): boolean {
  const { kind, name, namespace: within = namespace } = source;
  const isOfPlace = involvedObject.namespace === within && involvedObject.kind === kind;
  return isOfPlace && (name === "*" || name === involvedObject.name);
}

/** Whether an Alert for this severity sends the event. */
export function isOfSeverity(
  { severity }: Pick<NotificationEvent, "severity">,
  { eventSeverity }: Pick<AlertSpec, "eventSeverity">,
): boolean {
  return eventSeverity === "info" || eventSeverity === severity;
}

async function isOfSources(
  event: NotificationEvent,
  { namespace, spec }: MatchedAlert,
  labelsOf: LabelsOf,
  faults: MatchFault[],
): Promise<boolean> {
  for (const source of spec.eventSources) {
    if (!isNamed(event, source, namespace)) continue;
    if (source.matchLabels === undefined) return true;
    const labels = await labelsOf();
    if (labels === undefined) {
      faults.push({
        reason: "SourceFetchFailed",
        message: `error getting source object ${subject(event.involvedObject)}`,
      });
    } else if (!areLabels(source.matchLabels)) {
      faults.push({
        reason: "InvalidConfig",
        message: `error using matchLabels from event source ${named(source, namespace)}`,
      });
    } else if (hasLabels(labels, source.matchLabels)) {
      return true;
    }
  }
  return false;
}

function named({ kind, name, namespace: own }: EventSource, namespace: string): string {
  return subject({ kind, namespace: own ?? namespace, name });
}

function hasLabels(labels: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
}

const part = "[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?";
const labelKey = new RegExp(
  `^(?:(?=.{1,253}/)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*/)?${part}$`,
);
const labelValue = new RegExp(`^(?:${part})?$`);

/** Whether an object can have these labels. */
function areLabels(labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(([key, value]) => labelKey.test(key) && labelValue.test(value));
}

function isEmpty(list: readonly string[] = []): boolean {
  return list.length === 0;
}

/**
 * Whether one of the expressions matches the message, or only its beginning if the expressions of the list are long (see {@link
 * maxSearchCost}). An invalid expression is left out and reported.
 */
function isMatched(
  { message }: NotificationEvent,
  expressions: readonly string[] = [],
  list: "exclusion" | "inclusion",
  faults: MatchFault[],
): boolean {
  const { compiled: all, chars } = compiledFor(expressions);
  const searched = message.slice(0, Math.floor(maxSearchCost / Math.max(chars, 1)));
  for (const { expression, compiled } of all) {
    if (compiled === undefined) {
      faults.push({
        reason: "InvalidConfig",
        message: `failed to compile ${list} regex: ${cutText(expression, maxShownBytes)}`,
      });
    } else if (compiled.matcher(searched).find()) {
      return true;
    }
  }
  return false;
}

/** The limit for all expressions of a list. Expressions beyond the limit would delay others' events: they count as invalid. */
export const maxListChars = 4_096;
/**
 * Characters of the expressions of a list times characters that are searched: RE2 needs time for each pair of them at worst. A list of 100
 * characters searches a message of the greatest length.
 */
const maxSearchCost = 4_000_000;
const maxShownBytes = 4_096;

interface CompiledList {
  readonly compiled: readonly { readonly expression: string; readonly compiled: RE2JS | undefined }[];
  /** The characters of the expressions that count. */
  readonly chars: number;
}

/** Compiled once for as long as an Alert's list is the same. */
const compiledLists = new WeakMap<readonly string[], CompiledList>();

function compiledFor(expressions: readonly string[]): CompiledList {
  const known = compiledLists.get(expressions);
  if (known !== undefined) return known;
  let chars = 0;
  const compiled = expressions.map((expression) => {
    const isWithin = chars + expression.length <= maxListChars;
    if (isWithin) chars += expression.length;
    return { expression, compiled: isWithin ? compile(expression) : undefined };
  });
  const made = { compiled, chars };
  compiledLists.set(expressions, made);
  return made;
}

function compile(expression: string): RE2JS | undefined {
  try {
    return RE2JS.compile(expression);
  } catch {
    return undefined;
  }
}
