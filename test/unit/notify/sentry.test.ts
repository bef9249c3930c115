import { describe, expect, test } from "vitest";
import type { NotificationEvent } from "../../../lib/notify/notification-event.ts";
import { sentry } from "../../../lib/notify/providers/sentry.ts";
import { recordedSteps, seen } from "./recorded-deliveries.ts";
import { type Answer, recordingParts, settingsOf } from "./recording-http.ts";

const never = new AbortController().signal;
const dsn = "http://key@127.0.0.1:26200/1";
const sdk = { name: "sluice", version: expect.stringMatching(/^\d+\.\d+\.\d+$/) };
const id = expect.stringMatching(/^[0-9a-f]{32}$/);

const [recording] = recordedSteps("notify-proxy-types").filter(({ step }) => step === "sentry");
const [recordedEvent] = recording?.events ?? [];

function eventOf(changes: Partial<NotificationEvent> = {}): NotificationEvent {
  if (recordedEvent === undefined) throw new Error("the recording has no event");
  return { ...recordedEvent, ...changes };
}

async function sent(event: NotificationEvent, channel = "", ...answers: Answer[]) {
  const parts = recordingParts(...answers);
  const proxy = { url: new URL("http://127.0.0.1:26203") };
  await sentry(settingsOf({ type: "sentry", address: dsn, channel, proxy }), parts).post(event, never);
  return parts.requests.map(seen);
}

function linesOf(text = ""): readonly unknown[] {
  return text.split("\n").flatMap((line): unknown[] => (line === "" ? [] : [JSON.parse(line)]));
}

function fieldsOf(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

/** What Flux's client tells of itself and its machine. */
const ofTheClient = { platform: "other", sdk };

describe("a Provider of type sentry", () => {
  test("sends the event that was recorded from Flux, with another client name", async () => {
    const [request] = await sent(eventOf(), "stream/topic");
    const [delivery] = recording?.deliveries ?? [];
    const { method, path } = delivery ?? {};
    expect(request).toMatchObject({ method, path });
    const recordedLogin = delivery?.headers["x-sentry-auth"] ?? "";
    expect(request?.headers).toEqual({
      "content-type": delivery?.headers["content-type"],
      "x-sentry-auth": expect.stringMatching(/^Sentry sentry_version=7, sentry_client=sluice\/[\d.]+, sentry_key=key$/),
    });
    expect(recordedLogin).toMatch(/^Sentry sentry_version=7, sentry_client=[^,]+, sentry_key=key$/);
    const [header, item, event] = linesOf(request?.raw);
    const [recordedHeader, , recordedBody] = Array.isArray(delivery?.body) ? delivery.body : [];
    expect(header).toEqual({ ...fieldsOf(recordedHeader), event_id: id, sent_at: "2026-03-02T11:31:08.000Z", sdk });
    expect(item).toEqual({ type: "event", length: Buffer.byteLength(request?.raw.split("\n")[2] ?? "") });
    const { modules: _modules, ...told } = { modules: undefined, ...fieldsOf(recordedBody) };
    expect(event).toEqual({
      ...told,
      ...{ event_id: id, server_name: "kustomize-controller", ...ofTheClient },
      contexts: { metadata: eventOf().metadata },
    });
  });

  test("sends a transaction for an event that is not an error", async () => {
    const event = eventOf({ severity: "info" });
    const [request] = await sent(event);
    const [, item, transaction] = linesOf(request?.raw);
    const tags = {
      flux_involved_object_kind: "Kustomization",
      flux_involved_object_namespace: "golden-notify-proxy-types",
      flux_involved_object_name: "sentry",
      flux_reporting_controller: "kustomize-controller",
      flux_reporting_instance: "kustomize-controller-golden",
      flux_reason: "ReconciliationSucceeded",
      ...event.metadata,
    };
    const span = { trace_id: id, span_id: expect.stringMatching(/^[0-9a-f]{16}$/), op: "event" };
    const moment = { start_timestamp: "2026-03-02T11:31:07Z", timestamp: "2026-03-02T11:31:07Z" };
    expect(item).toMatchObject({ type: "transaction" });
    expect(transaction).toEqual({
      ...{ type: "transaction", transaction: "Kustomization: golden-notify-proxy-types/sentry" },
      ...{ event_id: id, level: "info", message: event.message, tags, ...moment, ...ofTheClient },
      contexts: { trace: span },
      spans: [{ ...span, tags, ...moment, origin: "manual" }],
    });
  });

  test("sends nothing for severity trace, which Flux turns into an error about itself", async () => {
    expect(await sent(eventOf({ severity: "trace" }))).toEqual([]);
  });

  test("reports why an event was refused", async () => {
    await expect(sent(eventOf(), "", { status: 403, body: "no" })).rejects.toThrow(
      "sending to Sentry failed: request failed: request failed with status code 403: no",
    );
  });

  test("sends to the path and with the secret of the DSN", async () => {
    const parts = recordingParts();
    const address = "https://key:secret@sentry.test/a/b/42";
    await sentry(settingsOf({ type: "sentry", address }), parts).post(eventOf(), never);
    expect(parts.requests.map(({ url }) => url)).toEqual(["https://sentry.test/a/b/api/42/envelope/"]);
    expect(parts.requests[0]?.headers?.["x-sentry-auth"]).toMatch(/, sentry_key=key, sentry_secret=secret$/);
  });

  test.each([
    { address: "", fault: "DSN cannot be empty" },
    { address: "key@host/1", fault: "[Sentry] DsnParseError: invalid scheme" },
    { address: "https://host/1", fault: "[Sentry] DsnParseError: empty username" },
    { address: "https://key@/1", fault: "[Sentry] DsnParseError: empty host" },
    { address: "https://key@host", fault: "[Sentry] DsnParseError: empty project id" },
    { address: "https://key@host/a/", fault: "[Sentry] DsnParseError: empty project id" },
    {
      address: "https://key@host:x/1",
      fault: `[Sentry] DsnParseError: invalid url: parse "https://key@host:x/1": invalid port ":x" after host`,
    },
  ])("refuses the DSN '$address': $fault", ({ address, fault }) => {
    expect(() => sentry(settingsOf({ type: "sentry", address }), recordingParts())).toThrow(fault);
  });
});
