import { describe, expect, test } from "vitest";
import { messageOf } from "../../../lib/core/failure.ts";
import type { ProviderType } from "../../../lib/notify/admits.ts";
import type { NotificationEvent } from "../../../lib/notify/notification-event.ts";
import type { NotificationProvider, ProviderSettings } from "../../../lib/notify/provider.ts";
import { providers } from "../../../lib/notify/providers/providers.ts";
import { type RecordedDelivery, recordedSteps, seen } from "./recorded-deliveries.ts";
import { type Answer, recordingParts, settingsOf } from "./recording-http.ts";

type Settings = Partial<ProviderSettings>;

/** What a scenario applied before its steps, and what it changed in a step before each event. */
interface Scenario {
  readonly type: string;
  readonly settings: Settings;
  readonly changes?: Readonly<Record<string, readonly Settings[]>>;
}

const origin = "http://127.0.0.1:26200";
const ofTeam = { "X-Team": "shop", Authorization: "Bearer golden", "gotk-component": "mine" };
const login = { username: "golden", password: "golden-password" };
const token = "golden-token";

const scenarios: Readonly<Record<string, Scenario>> = {
  alertmanager: {
    type: "alertmanager",
    settings: { address: `${origin}/api/v2/alerts/` },
    changes: { token: [{ token }], login: [{ token, ...login }] },
  },
  discord: {
    type: "discord",
    settings: { address: `${origin}/api/webhooks/1/a`, channel: "general" },
    changes: {
      username: [{ username: "flux" }],
      "address-with-slack": [{ address: `${origin}/api/webhooks/1/a/slack` }],
      "address-with-query": [{ address: `${origin}/api/webhooks/1/a?wait=true` }],
      "address-with-slash": [{ address: `${origin}/api/webhooks/1/a/` }],
    },
  },
  generic: {
    type: "generic",
    settings: { address: `${origin}/generic` },
    changes: {
      headers: [{ headers: { ...ofTeam, "Content-Type": "text/x-golden" } }],
      forms: Array.from({ length: 3 }, () => ({ headers: { ...ofTeam, "Content-Type": "text/x-golden" } })),
    },
  },
  "generic-hmac": {
    type: "generic-hmac",
    settings: { address: `${origin}/generic-hmac`, token },
    changes: {
      headers: [{ headers: { "X-Signature": "sha256=mine", "X-Team": "shop" } }],
      "other-tokens": [{ token: `${token}\n` }, { token: "" }, { token: "" }],
    },
  },
  grafana: {
    type: "grafana",
    settings: { address: `${origin}/api/annotations` },
    changes: { logins: [{ token, ...login }, login] },
  },
  msteams: { type: "msteams", settings: { address: `${origin}/workflows/1` } },
  opsgenie: {
    type: "opsgenie",
    settings: { address: `${origin}/v2/alerts`, token },
    changes: { "no-token": [{ token: "" }] },
  },
  slack: { type: "slack", settings: { address: `${origin}/services/T0/B0/X`, channel: "general" } },
};

function typeNamed(name: string): ProviderType {
  const type = providers[name];
  if (type === undefined) throw new Error(`there is no type ${name}`);
  return type;
}

/** Delivers the event, and tells the text of the failure. */
async function deliver(
  type: string,
  settings: Settings,
  event: NotificationEvent,
  parts: ReturnType<typeof recordingParts>,
): Promise<string | undefined> {
  const object = `${event.involvedObject.kind}/${event.involvedObject.namespace}/${event.involvedObject.name}`;
  let provider: NotificationProvider;
  try {
    provider = typeNamed(type).make(settingsOf({ type, ...settings }), parts);
  } catch (error) {
    return `failed to dispatch notification for ${object}: failed to initialize notifier for provider 'provider': failed to initialize notifier: ${messageOf(error)}`;
  }
  try {
    await provider.post(event, new AbortController().signal);
    return undefined;
  } catch (error) {
    return `failed to send notification for ${object}: ${messageOf(error)}`;
  }
}

/** Whether the Alert of the recordings passes it to a provider of this type. */
function isPassed(type: string, { involvedObject, metadata = {} }: NotificationEvent): boolean {
  if (involvedObject.kind !== "Kustomization") return false;
  return typeNamed(type).class === "generic" || metadata["commit_status"] !== "update";
}

describe.each(Object.entries(scenarios))(
  "as recorded from Flux, %s sends",
  (scenario, { type, settings, changes = {} }) => {
    test.each(recordedSteps(`notify-${scenario}`))(
      "the messages of $step",
      async ({ step, events, deliveries, failures }) => {
        const parts = recordingParts();
        const told: string[] = [];
        for (const [index, event] of events.entries()) {
          if (!isPassed(type, event)) continue;
          const failure = await deliver(type, { ...settings, ...changes[step]?.[index] }, event, parts);
          if (failure !== undefined) told.push(failure);
        }
        expect(new Set(told)).toEqual(new Set(failures));
        expect(parts.requests.map(seen).map(parsed)).toEqual(deliveries.map(recorded));
        for (const [index, { raw }] of deliveries.entries()) {
          // Flux takes several keys in any order where it makes a list of them.
          if (isListed(type) && Object.keys(events[index]?.metadata ?? {}).length > 1) continue;
          expect(parts.requests.map(seen)[index]?.raw).toBe(raw);
        }
      },
    );
  },
);

function isListed(type: string): boolean {
  return ["discord", "grafana", "slack"].includes(type);
}

function parsed({ raw, ...request }: ReturnType<typeof seen>): object {
  return { ...request, body: JSON.parse(raw) };
}

function recorded(delivery: RecordedDelivery): object {
  return { ...wayOf(delivery), body: delivery.body };
}

function wayOf({ over, method, path, headers }: RecordedDelivery): object {
  return { ...(over === undefined ? {} : { over }), method, path, headers: recordedHeaders({ headers }) };
}

/** Without the name of Flux's client. */
function recordedHeaders({ headers }: Pick<RecordedDelivery, "headers">): object {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "user-agent"));
}

describe("as recorded from Flux, with a Secret and a proxy", () => {
  const proxy = { url: new URL("http://127.0.0.1:26203") };
  const steps = recordedSteps("notify-proxy-types").filter(
    // Where nothing was kept of the body as it was, its type has a test of its own.
    ({ step, deliveries }) => step in providers && deliveries.every(({ raw }) => raw !== undefined),
  );

  test.each(steps)("$step sends its message", async ({ step, events, deliveries, failures }) => {
    const parts = recordingParts();
    const address = step === "matrix" ? origin : `${origin}/${step}`;
    const settings = { address, channel: "stream/topic", token, ...login, proxy };
    for (const event of events) expect(await deliver(step, settings, event, parts)).toBe(failures[0]);
    const sent = deliveries.map((delivery) => ({ ...wayOf(delivery), raw: delivery.raw }));
    expect(parts.requests.map(seen)).toEqual(sent);
  });
});

describe("as recorded from Flux, the answer decides whether a message has arrived", () => {
  const answers: Readonly<Record<string, Answer>> = {
    "400": { status: 400, body: "bad request: what?" },
    "401": { status: 401, body: '{"error":"unauthorized"}' },
    "404": { status: 404, body: "" },
    "204": { status: 204, body: "" },
    "299": { status: 299 },
    "304": { status: 304, body: "" },
    "long-body": { status: 400, body: "0123456789".repeat(400) },
  };

  test.each(recordedSteps("notify-answer-refused"))("$step", async ({ step, events, deliveries, failures }) => {
    const parts = recordingParts(answers[step] ?? {});
    const address = `${origin}/a${step}`;
    for (const event of events) {
      const failure = await deliver("generic", { address }, event, parts);
      // An Event has room for 1,024 bytes.
      expect(failure?.slice(0, 900)).toBe(failures[0]?.slice(0, 900));
    }
    expect(parts.requests.map(seen).map(parsed)).toEqual(deliveries.map(recorded));
    expect(parts.waits).toEqual([]);
  });
});
