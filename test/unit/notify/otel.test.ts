import { describe, expect, test } from "vitest";
import { Secret } from "../../../lib/core/secret.ts";
import type { NotificationEvent } from "../../../lib/notify/notification-event.ts";
import type { ProviderSettings } from "../../../lib/notify/provider.ts";
import { otel, traceIdOf } from "../../../lib/notify/providers/otel.ts";
import { traceOf } from "./read-trace.ts";
import { recordedSteps, seen } from "./recorded-deliveries.ts";
import { type Answer, recordingParts, settingsOf } from "./recording-http.ts";

const never = new AbortController().signal;
const address = "http://127.0.0.1:26200/otel";
const login = { username: "golden", password: "golden-password", token: "golden-token" };
const uid = "8f14e45f-ceea-467f-a9d8-0b1c2d3e4f50";
const alert = { namespace: "golden-notify-proxy-types", name: "otel", uid };

const [recording] = recordedSteps("notify-proxy-types").filter(({ step }) => step === "otel");
const [recordedEvent] = recording?.events ?? [];

function eventOf(changes: Partial<NotificationEvent> = {}): NotificationEvent {
  if (recordedEvent === undefined) throw new Error("the recording has no event");
  return { ...recordedEvent, ...changes };
}

async function sent(settings: Partial<ProviderSettings>, event = eventOf(), ...answers: Answer[]) {
  const parts = recordingParts(...answers);
  const provider = otel(settingsOf({ type: "otel", address, alert, ...settings }), parts);
  await provider.post(event, never);
  return parts.requests;
}

describe("a Provider of type otel", () => {
  test("sends the same span as recorded from Flux", async () => {
    const proxy = { url: new URL("http://127.0.0.1:26203") };
    const [request] = await sent({ ...login, channel: "stream/topic", proxy });
    const [delivery] = recording?.deliveries ?? [];
    if (request === undefined || delivery === undefined) throw new Error("nothing was sent");
    const { "user-agent": _agent, "proxy-authorization": proxyLogin, ...headers } = delivery.headers;
    const { over, method, path } = delivery;
    expect(seen(request)).toMatchObject({ over, method, path, headers });
    expect(request.proxy).toEqual({ ...proxy, username: "golden", password: new Secret("golden-token") });
    expect(proxyLogin).toBe(`Basic ${Buffer.from("golden:golden-token").toString("base64")}`);
    const trace = traceOf(request.body);
    expect({
      resourceSpans: [
        {
          resource: { ...trace.resource, "service.instance.id": "<alert-uid>" },
          schemaUrl: trace.schemaUrl,
          scopeSpans: [
            {
              scope: trace.scope,
              spans: [
                {
                  traceId:
                    "<first 16 bytes of SHA-256 of <alert-uid>:main@sha1:0a1b2c3d4e5f60718293a4b5c6d7e8f901234567>",
                  spanId: "<8 bytes>",
                  name: trace.name,
                  kind: Number(trace.kind),
                  startTimeUnixNano: String(trace.startTimeUnixNano),
                  endTimeUnixNano: "<time>",
                  attributes: trace.attributes,
                  status: { message: trace.status.message, code: Number(trace.status.code) },
                  flags: Number(trace.flags),
                },
              ],
            },
          ],
        },
      ],
    }).toEqual(delivery.body);
    expect(trace.resource["service.instance.id"]).toBe(uid);
    expect(trace.traceId).toBe("213d329629566715f4a937144eeeafeb");
    expect(trace.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(trace.endTimeUnixNano).toBe(BigInt(Date.UTC(2026, 2, 2, 11, 31, 8)) * 1_000_000n);
  });

  test("marks an event that is not an error as OK, without its message", async () => {
    const [request] = await sent({}, eventOf({ severity: "info" }));
    expect(traceOf(request?.body).status).toEqual({ message: "", code: 1n });
  });

  test("puts all events of an Alert that name the same revision into one trace", () => {
    const of = (metadata: Readonly<Record<string, string>>): string =>
      Buffer.from(traceIdOf({ uid }, eventOf({ metadata }))).toString("hex");
    expect(of({ revision: "1.4@sha256:ab" })).toBe(
      of({ "app-version": "1.4", "oci-digest": "sha256:ab", revision: "2" }),
    );
    expect(of({ "app-version": "1.4" })).toBe(of({ revision: "unknown" }));
    expect(of({ revision: "2" })).not.toBe(of({ revision: "3" }));
  });

  test("sends nothing about a HelmRepository", async () => {
    const { involvedObject } = eventOf();
    expect(await sent({}, eventOf({ involvedObject: { ...involvedObject, kind: "HelmRepository" } }))).toEqual([]);
  });

  test("shortens long texts, and metadata override attributes of the same name", async () => {
    const message = "x".repeat(40_000);
    const [request] = await sent(
      {},
      eventOf({ message, metadata: { "object.kind": "mine", empty: "", "": "no key" } }),
    );
    const { attributes: found, status } = traceOf(request?.body);
    expect(status.message).toBe(message);
    expect(found).toMatchObject({ "object.kind": "mine", empty: "" });
    expect(Object.keys(found)).toHaveLength(5);
  });

  test.each([
    { to: "http://collector.test", url: "http://collector.test/v1/traces" },
    { to: "https://collector.test:4318?x=y", url: "https://collector.test:4318/v1/traces" },
    { to: "http://collector.test/", url: "http://collector.test/" },
    { to: "http://collector.test/api/otlp?x=y", url: "http://collector.test/api/otlp" },
  ])("sends events for $to to $url", async ({ to, url }) => {
    expect((await sent({ address: to })).map((request) => request.url)).toEqual([url]);
  });

  const team = { "X-Team": "shop" };
  test.each<{ what: string; settings: Partial<ProviderSettings>; authorization: string | undefined }>([
    { what: "no login if the Secret has no headers", settings: login, authorization: undefined },
    {
      what: "name and token",
      settings: { ...login, headers: team },
      authorization: `Basic ${Buffer.from("golden:golden-token").toString("base64")}`,
    },
    { what: "the token alone", settings: { token: "t", headers: team }, authorization: "Bearer t" },
    { what: "the password as the token", settings: { password: "p", headers: team }, authorization: "Bearer p" },
    { what: "an empty token", settings: { headers: team }, authorization: "Bearer" },
    { what: "no login with a username alone", settings: { username: "u", headers: team }, authorization: undefined },
    {
      what: "the login in the headers",
      settings: { ...login, headers: { Authorization: "mine" } },
      authorization: "mine",
    },
  ])("logs in with $what", async ({ settings, authorization }) => {
    const [request] = await sent(settings);
    expect(request?.headers?.["authorization"]).toBe(authorization);
    expect(request?.headers?.["content-type"]).toBe("application/x-protobuf");
  });

  test("reports why a span was refused", async () => {
    await expect(sent({}, eventOf(), { status: 400, body: "no" })).rejects.toThrow(
      "traces export: request failed: request failed with status code 400: no",
    );
  });

  test("needs an address", () => {
    expect(() => otel(settingsOf({ type: "otel" }), recordingParts())).toThrow(`parse "": empty url`);
  });
});
