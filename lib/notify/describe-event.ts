import type { NotificationEvent } from "./notification-event.ts";

/** `kustomization/apps.flux-system`: the object as most chats show it. */
export function objectName({ involvedObject: { kind, name, namespace } }: NotificationEvent): string {
  return `${kind.toLowerCase()}/${name}.${namespace}`;
}

/** The merged metadata by key, in the order of the keys. Flux sends it in another order each time. */
export function sortedMetadata({
  metadata = {},
}: NotificationEvent): readonly (readonly [key: string, value: string])[] {
  return Object.entries(metadata).toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

export function isError({ severity }: NotificationEvent): boolean {
  return severity === "error";
}

/** Seconds since 1970. Without a time it is that of Go's zero, the year 1. */
export function unixSeconds({ timestamp }: NotificationEvent): number {
  const ms = Date.parse(timestamp);
  return Math.floor((Number.isNaN(ms) ? Date.parse(goZeroTime) : ms) / 1000);
}

/** The time that Go writes if none was set. */
export const goZeroTime = "0001-01-01T00:00:00Z";

/** The time of the event, as RFC 3339. */
export function eventTime({ timestamp }: NotificationEvent): string {
  return timestamp === "" ? goZeroTime : timestamp;
}

/** The reason as words: `ReconciliationSucceeded` is `reconciliation succeeded`. Split where the case changes and at digits. */
export function reasonInWords({ reason }: NotificationEvent): string {
  const runs: string[] = [];
  let last = "";
  for (const character of reason) {
    const kind = characterClass(character);
    if (kind === last) runs[runs.length - 1] += character;
    else runs.push(character);
    last = kind;
  }
  // An upper-case letter belongs to the lower-case letters after it: `PDFLoader` is `pdf loader`.
  for (let index = 0; index + 1 < runs.length; index++) {
    const letters = Array.from(runs[index] ?? "");
    const next = runs[index + 1] ?? "";
    if (characterClass(letters[0] ?? "") !== "upper" || characterClass(Array.from(next)[0] ?? "") !== "lower") continue;
    runs[index + 1] = `${letters.at(-1) ?? ""}${next}`;
    runs[index] = letters.slice(0, -1).join("");
  }
  return runs
    .filter((run) => run !== "")
    .join(" ")
    .toLowerCase();
}

function characterClass(character: string): "digit" | "lower" | "other" | "upper" {
  if (/^\p{Ll}/u.test(character)) return "lower";
  if (/^\p{Lu}/u.test(character)) return "upper";
  return /^\p{Nd}/u.test(character) ? "digit" : "other";
}

/** The event in Markdown, as Zulip and the comments of change requests show it. */
export function markdownOf(event: NotificationEvent): string {
  const { kind, namespace, name } = event.involvedObject;
  const emoji = isError(event) ? "⚠️" : "ℹ️";
  const lines = sortedMetadata(event)
    .filter(([key]) => key !== "change_request")
    .map(([key, value]) => `* \`${key}\`: ${value}\n`);
  return `## Flux Status\n\n${emoji} ${kind}/${namespace}/${name}\n\n${event.message}\n\nMetadata:\n${lines.join("")}`;
}
