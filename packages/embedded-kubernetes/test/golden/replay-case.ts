import { setTimeout as sleep } from "node:timers/promises";
import { equal, isJsonObject, type Json, toJson } from "../../src/core/json.ts";
import { deadlineMs } from "../deadline.ts";
import { comparable } from "./comparable.ts";
import { difference, filledIn, textMatches } from "./placeholders.ts";
import type { RecordedRequest, RecordedResponse, RecordedStep } from "./recorded-case.ts";
import type { Replay } from "./replay.ts";
import { replayKubectl } from "./replay-kubectl.ts";

/** Runs a case; answers what differs first, or `undefined`. */
export async function replayCase(replay: Replay): Promise<string | undefined> {
  for (const [index, step] of replay.recorded.steps.entries()) {
    // Times are in whole seconds; in these cases they have to differ.
    if (replay.recorded.clock === true) await sleep(1_100);
    const found = await replayStep(replay, step);
    if (found !== undefined) return `step ${index}: ${found}`;
  }
  return undefined;
}

async function replayStep(replay: Replay, step: RecordedStep): Promise<string | undefined> {
  if (step.sleep !== undefined) {
    await sleep(step.sleep);
    return undefined;
  }
  // The embedded store forgets by itself, and what is recent never: there is nothing to do.
  if (step.compact === true) return undefined;
  if (step.wait !== undefined) return waitFor(replay, step.wait);
  if (step.kubectl !== undefined) return replayKubectl(replay, step, step.kubectl);
  if (step.collect !== undefined) return collect(replay, step, step.collect);
  if (step.request === undefined || step.response === undefined) return "the step says nothing to do";
  if (step.watch !== undefined) return openWatch(replay, step.watch, step.request, step.response);
  const response = await send(replay, step.request);
  return compareResponse(replay, step, step.response, response, await response.text());
}

async function send(replay: Replay, { method, path, headers = {}, body, text }: RecordedRequest): Promise<Response> {
  const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
  const all = new Headers({
    "user-agent": "vectors/1",
    accept: "application/json",
    authorization: `Bearer ${replay.adminToken}`,
    ...headers,
  });
  for (const [name, value] of Object.entries(headers)) if (value === "") all.delete(name);
  const request: RequestInit = { method, headers: all };
  // Bytes, so that fetch adds no content type of its own.
  if (sent !== undefined) request.body = new TextEncoder().encode(filledIn(sent, replay.bindings));
  return fetch(`${replay.kubernetes.url}${filledIn(path, replay.bindings)}`, request);
}

function compareResponse(
  { bindings, recorded: { clock = false } }: Replay,
  step: RecordedStep,
  recorded: RecordedResponse,
  actual: Response,
  text: string,
): string | undefined {
  if (recorded.status !== actual.status)
    return `status: recorded ${recorded.status}, is ${actual.status}: ${text.slice(0, 600)}`;
  const type = actual.headers.get("content-type") ?? "";
  if (type !== (recorded.contentType ?? "application/json")) return `content type: is ${type}`;
  const warnings = warningsOf(actual);
  const foundWarning = difference(toJson(recorded.warnings ?? []), toJson(warnings), bindings, "warnings");
  if (foundWarning !== undefined) return foundWarning;
  if (recorded.text !== undefined) {
    return textMatches(recorded.text, text, bindings) ? undefined : `text: recorded ${recorded.text}, is ${text}`;
  }
  return recorded.body === undefined
    ? undefined
    : difference(recorded.body, comparable(parsed(text), step, clock), bindings);
}

function warningsOf(response: Response): readonly string[] {
  const header = response.headers.get("warning");
  return header === null ? [] : header.split(/, (?=299 - )/);
}

/** Opens the stream and waits for its headers: what comes next must not overtake it. */
async function openWatch(
  replay: Replay,
  name: string,
  request: RecordedRequest,
  recorded: RecordedResponse,
): Promise<string | undefined> {
  const path = request.path.replace(/timeoutSeconds=(\d+)/, (_, seconds: string) => {
    return `timeoutSeconds=${Number(seconds) * replay.watchFactor}`;
  });
  const response = await send(replay, { ...request, path });
  if (response.status !== recorded.status) {
    return `watch: recorded ${recorded.status}, is ${response.status}: ${await response.text()}`;
  }
  replay.watches.set(name, response.text());
  return undefined;
}

async function collect(replay: Replay, step: RecordedStep, name: string): Promise<string | undefined> {
  const text = (await replay.watches.get(name)) ?? "";
  const events = text
    .split("\n")
    .filter((line) => line !== "")
    .map(parsed);
  const shown = withoutRepeatedBookmarks(events, step.bookmarks === "initial").map((event) =>
    isJsonObject(event) && event["object"] !== undefined
      ? { ...event, object: comparable(event["object"], step, replay.recorded.clock ?? false) }
      : event,
  );
  return difference(toJson(step.events ?? []), shown, replay.bindings);
}

/** Several plain BOOKMARKs in a row count as one; where only the initial one matters plain ones are left out. */
function withoutRepeatedBookmarks(events: readonly Json[], isInitialOnly: boolean): readonly Json[] {
  return events.filter((event, index) => {
    if (!isPlainBookmark(event)) return true;
    return !isInitialOnly && !isPlainBookmark(events[index - 1]);
  });
}

function isPlainBookmark(event: Json | undefined): boolean {
  if (!isJsonObject(event) || event["type"] !== "BOOKMARK" || !isJsonObject(event["object"])) return false;
  const { metadata } = event["object"];
  return isJsonObject(metadata) && metadata["annotations"] === undefined;
}

async function waitFor(replay: Replay, wait: NonNullable<RecordedStep["wait"]>): Promise<string | undefined> {
  const deadline = Date.now() + deadlineMs;
  let last = "";
  do {
    const response = await send(replay, { method: "GET", path: wait.path });
    const text = await response.text();
    if (response.status === wait.status && (wait.field === undefined || equal(valueAt(text, wait.field), wait.value))) {
      return undefined;
    }
    last = `${response.status} ${text.slice(0, 800)}`;
    await sleep(50);
  } while (Date.now() < deadline);
  return `waited in vain for ${JSON.stringify(wait)}: ${last}`;
}

function valueAt(text: string, field: string): Json | undefined {
  let value: Json | undefined = parsed(text);
  for (const part of field.split(".")) {
    if (Array.isArray(value)) value = value[Number(part)];
    else value = isJsonObject(value) ? value[part] : undefined;
  }
  return value;
}

function parsed(text: string): Json {
  try {
    return toJson(JSON.parse(text));
  } catch {
    return text;
  }
}
