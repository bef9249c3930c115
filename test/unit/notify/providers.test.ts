import { describe, expect, test } from "vitest";
import type { NotificationEvent } from "../../../lib/notify/notification-event.ts";
import type { ProviderSettings } from "../../../lib/notify/provider.ts";
import { providers } from "../../../lib/notify/providers/providers.ts";
import { seen } from "./recorded-deliveries.ts";
import { type Answer, recordingParts, settingsOf } from "./recording-http.ts";

const never = new AbortController().signal;

/** The event of body E in the reference. */
const upgraded: NotificationEvent = {
  involvedObject: {
    kind: "HelmRelease",
    namespace: "retail",
    name: "cart",
    uid: "5e1c7a90-2f6b-4d3e-9a41-7c0d2b8e6f15",
    apiVersion: "helm.toolkit.fluxcd.io/v2",
    resourceVersion: "48211",
  },
  severity: "info",
  timestamp: "2026-03-02T11:31:07Z",
  message: "Helm upgrade succeeded for release retail/cart.v3 with chart cart@1.4.2",
  reason: "UpgradeSucceeded",
  metadata: { revision: "1.4.2", "app-version": "1.4", env: "prod" },
  reportingController: "helm-controller",
  reportingInstance: "sluice-7d9f",
};

const failed: NotificationEvent = {
  ...upgraded,
  severity: "error",
  message: "Helm upgrade failed",
  reason: "UpgradeFailed",
  metadata: { revision: "1.4.2", summary: "cart impacted", env: "prod" },
};

/** What a provider sends for an event, and the text of its failure. */
async function sent(type: string, settings: Partial<ProviderSettings>, event: NotificationEvent, ...answers: Answer[]) {
  const parts = recordingParts(...answers);
  let fault: string | undefined;
  try {
    await providers[type]?.make(settingsOf({ type, ...settings }), parts).post(event, never);
  } catch (error) {
    fault = error instanceof Error ? error.message : "not an error";
  }
  const requests = parts.requests.map((request) => ({ ...seen(request), url: request.url }));
  return { requests, fault };
}

function bodyOf({ raw }: { readonly raw: string }): unknown {
  return JSON.parse(raw);
}

function faultOfSetup(type: string, settings: Partial<ProviderSettings>): string {
  try {
    providers[type]?.make(settingsOf({ type, ...settings }), recordingParts());
  } catch (error) {
    return error instanceof Error ? error.message : "not an error";
  }
  return "";
}

describe("the Providers of type generic and generic-hmac", () => {
  const address = "https://example.test/hook";

  test("52: the signature is the HMAC of the body with the token", async () => {
    const { requests } = await sent("generic-hmac", { address, token: "fluxhook-demo-key" }, upgraded);
    expect(requests[0]?.raw).toBe(
      '{"involvedObject":{"kind":"HelmRelease","namespace":"retail","name":"cart","uid":"5e1c7a90-2f6b-4d3e-9a41-7c0d2b8e6f15","apiVersion":"helm.toolkit.fluxcd.io/v2","resourceVersion":"48211"},"severity":"info","timestamp":"2026-03-02T11:31:07Z","message":"Helm upgrade succeeded for release retail/cart.v3 with chart cart@1.4.2","reason":"UpgradeSucceeded","metadata":{"app-version":"1.4","env":"prod","revision":"1.4.2"},"reportingController":"helm-controller","reportingInstance":"sluice-7d9f"}',
    );
    expect(requests[0]?.headers).toMatchObject({
      "x-signature": "sha256=05a8ba8711e02de21931a24219b8a9659c1add3207ecef85924fa8d5f85bfd31",
    });
  });

  test("53: a header names the controller, unless the Secret has this header", async () => {
    const plain = await sent("generic", { address }, upgraded);
    expect(plain.requests[0]?.headers).toMatchObject({ "gotk-component": "helm-controller" });
    const own = await sent("generic", { address, headers: { "Gotk-Component": "mine" } }, upgraded);
    expect(own.requests[0]?.headers).toEqual({ "content-type": "application/json", "gotk-component": "mine" });
  });

  test("53: no header of the Secret replaces the signature", async () => {
    const settings = { address, token: "t", headers: { "X-Signature": "sha256=mine", "x-signature": "mine" } };
    const { requests } = await sent("generic-hmac", settings, upgraded);
    expect(requests[0]?.headers["x-signature"]).toMatch(/^sha256=[0-9a-f]{64}$/);
  });
});

describe("a Provider of type slack", () => {
  const refused = { body: '{"ok":false,"error":"channel_not_found"}' };

  test("56: an answer of the chat API that is not ok fails", async () => {
    const { fault } = await sent("slack", { address: "https://slack.com/api/chat.postMessage" }, failed, refused);
    expect(fault).toBe("postMessage failed: request failed: Slack responded with error: channel_not_found");
  });

  test("56: an answer of the chat API that is ok succeeds", async () => {
    const settings = { address: "https://slack.com/api/chat.postMessage", token: "xoxb-1" };
    const { fault, requests } = await sent("slack", settings, failed, { body: '{"ok":true}' });
    expect(fault).toBeUndefined();
    expect(requests[0]?.headers).toMatchObject({ authorization: "Bearer xoxb-1" });
  });

  test("56: the same answer of an incoming webhook succeeds", async () => {
    const { fault } = await sent("slack", { address: "https://hooks.slack.com/services/T/B/X" }, failed, refused);
    expect(fault).toBeUndefined();
  });
});

test("57: Discord is called at its path for Slack's format", async () => {
  const { requests } = await sent("discord", { address: "https://host/api/webhooks/1/a" }, failed);
  expect(requests[0]?.path).toBe("/api/webhooks/1/a/slack");
});

describe("a Provider of type msteams", () => {
  test("58: sends a MessageCard to an older connector", async () => {
    const { requests } = await sent("msteams", { address: "https://contoso.webhook.office.com/1" }, failed);
    expect(JSON.parse(requests[0]?.raw ?? "")).toEqual({
      "@type": "MessageCard",
      "@context": "http://schema.org/extensions",
      themeColor: "FF0000",
      summary: "helmrelease/cart.retail",
      sections: [
        {
          activityTitle: "Helm upgrade failed",
          activitySubtitle: "helmrelease/cart.retail",
          facts: [
            { name: "env", value: "prod" },
            { name: "revision", value: "1.4.2" },
            { name: "summary", value: "cart impacted" },
          ],
        },
      ],
    });
  });

  test.each(["https://prod-1.westeurope.logic.azure.com/workflows/1", "https://webhook.office.com.example.test/"])(
    "58: sends an Adaptive Card 1.4 to any other host: %s",
    async (address) => {
      const { requests } = await sent("msteams", { address }, failed);
      expect(JSON.parse(requests[0]?.raw ?? "")).toMatchObject({
        attachments: [{ content: { type: "AdaptiveCard", version: "1.4" } }],
      });
    },
  );
});

test("59: Telegram gets the chat and its topic, with dots escaped", async () => {
  const event = { ...failed, message: "v1.4.2 (cart) failed!", metadata: { "app.version": "1.4" } };
  const { requests } = await sent("telegram", { channel: "-100200:7", token: "1:a" }, event);
  expect(requests[0]?.url).toBe("https://api.telegram.org/bot1:a/sendMessage");
  expect(JSON.parse(requests[0]?.raw ?? "")).toEqual({
    chat_id: "-100200",
    message_thread_id: "7",
    text: String.raw`*🚨 helmrelease/cart/retail*
v1\.4\.2 \(cart\) failed\!
\- *app\.version*: 1\.4
`,
    parse_mode: "MarkdownV2",
  });
});

test("60: Opsgenie gets no alias", async () => {
  const { requests } = await sent("opsgenie", { address: "https://api.opsgenie.com/v2/alerts", token: "k" }, failed);
  expect(JSON.parse(requests[0]?.raw ?? "")).toEqual({
    message: "HelmRelease/cart",
    description: "Helm upgrade failed",
    details: { env: "prod", revision: "1.4.2", severity: "error", summary: "cart impacted" },
  });
});

describe("a Provider of type pagerduty", () => {
  const settings = { address: "https://events.pagerduty.com/any/path?x=y", channel: "key" };

  test("61: sends nothing for progress", async () => {
    const { requests } = await sent("pagerduty", settings, { ...upgraded, reason: "Progressing" });
    expect(requests).toEqual([]);
  });

  test("61: resolves the object's incident at an event that is not an error, and sends a change", async () => {
    const { requests } = await sent("pagerduty", settings, upgraded);
    expect(requests.map(({ url }) => url)).toEqual([
      "https://events.pagerduty.com/v2/enqueue",
      "https://events.pagerduty.com/v2/change/enqueue",
    ]);
    expect(requests.map(bodyOf)).toEqual([
      { routing_key: "key", event_action: "resolve", dedup_key: "5e1c7a90-2f6b-4d3e-9a41-7c0d2b8e6f15" },
      {
        routing_key: "key",
        payload: {
          summary: "upgrade succeeded: helmrelease/cart",
          source: "Flux helm-controller",
          timestamp: "2026-03-02T11:31:07Z",
          custom_details: { message: upgraded.message, metadata: upgraded.metadata },
        },
      },
    ]);
  });

  test("sends an empty map for an event without metadata, as notification-controller does", async () => {
    const { metadata: _metadata, ...bare } = upgraded;
    const { requests } = await sent("pagerduty", settings, bare);
    expect(requests.map(bodyOf).at(-1)).toMatchObject({ payload: { custom_details: { metadata: {} } } });
  });

  test("61: resolves the incident at severity trace without sending a change", async () => {
    const { requests } = await sent("pagerduty", settings, { ...upgraded, severity: "trace" });
    expect(requests.map(({ path }) => path)).toEqual(["/v2/enqueue"]);
  });

  test("reports which of the two requests failed", async () => {
    const first = await sent("pagerduty", settings, upgraded, { status: 400, body: "a" });
    expect(first.fault).toBe("failed sending event: request failed: request failed with status code 400: a");
    const second = await sent("pagerduty", settings, upgraded, {}, { status: 400, body: "b" });
    expect(second.fault).toBe("failed sending change event: request failed: request failed with status code 400: b");
  });
});

test("a failure of Datadog has the text of its client, and is not retried", async () => {
  const { fault, requests } = await sent("datadog", { token: "k" }, failed, { status: 403, body: "{}" });
  expect(fault).toBe("failed to post event to DataDog: 403 Forbidden");
  expect(requests.map(({ url }) => url)).toEqual(["https://api.datadoghq.com/api/v1/events"]);
});

describe("an invalid Provider is reported before any request:", () => {
  const empty = 'parse "": empty url';
  test.each<{ type: string; settings?: Partial<ProviderSettings>; fault: string }>([
    { type: "alertmanager", fault: `invalid Alertmanager URL : '${empty}'` },
    { type: "datadog", fault: "token cannot be empty" },
    {
      type: "datadog",
      settings: { token: "k", address: "https://[::1" },
      fault: `failed to parse address "https://[::1": parse "https://[::1": missing ']' in host`,
    },
    { type: "discord", fault: `invalid Discord hook URL : '${empty}'` },
    { type: "generic", fault: `invalid hook URL : ${empty}` },
    {
      type: "generic",
      settings: { address: "example.test/hook" },
      fault: 'invalid hook URL example.test/hook: parse "example.test/hook": invalid URI for request',
    },
    { type: "generic", settings: { address: ":" }, fault: 'invalid hook URL :: parse ":": missing protocol scheme' },
    {
      type: "generic",
      settings: { address: "http://example.test:x/" },
      fault: `invalid hook URL http://example.test:x/: parse "http://example.test:x/": invalid port ":x" after host`,
    },
    { type: "generic-hmac", settings: { address: "http://a.test/" }, fault: "HMAC key is empty" },
    { type: "generic-hmac", fault: `invalid hook URL : ${empty}` },
    { type: "googlechat", fault: "invalid Google Chat hook URL " },
    { type: "grafana", fault: "invalid Grafana URL " },
    { type: "lark", fault: "invalid Slack hook URL " },
    { type: "matrix", fault: `invalid Matrix homeserver URL : '${empty}'` },
    { type: "msteams", fault: `invalid MS Teams webhook URL : '${empty}'` },
    { type: "opsgenie", fault: `invalid Opsgenie hook URL : '${empty}'` },
    { type: "opsgenie", settings: { address: "http://a.test/" }, fault: "empty Opsgenie apikey/token" },
    { type: "pagerduty", fault: `invalid PagerDuty endpoint URL "": '${empty}'` },
    { type: "rocket", fault: `invalid Rocket hook URL : '${empty}'` },
    { type: "slack", fault: `invalid Slack hook URL : '${empty}'` },
    { type: "telegram", fault: "empty Telegram channel" },
    { type: "telegram", settings: { channel: "1" }, fault: "empty Telegram token" },
    { type: "webex", fault: `invalid Webex hook URL : '${empty}'` },
    ...["", "stream", "stream/", "/topic"].map((channel) => ({
      type: "zulip",
      settings: { address: "http://a.test/", channel },
      fault: `invalid Zulip channel format, expected <channel>/<topic>, got '${channel}'`,
    })),
    {
      type: "zulip",
      settings: { address: "http://a.test:x", channel: "a/b" },
      fault: `invalid Zulip endpoint URL: parse "http://a.test:x": invalid port ":x" after host`,
    },
  ])("$type: $fault", ({ type, settings = {}, fault }) => {
    expect(faultOfSetup(type, settings)).toBe(fault);
  });
});

describe("the single error case of the reference (section 22) for", () => {
  const address = "https://example.test/hook";
  const fragments: Readonly<Record<string, { settings: Partial<ProviderSettings>; fragment: unknown }>> = {
    slack: {
      settings: { address },
      fragment: {
        username: "helm-controller",
        attachments: [
          {
            color: "danger",
            author_name: "helmrelease/cart.retail",
            fallback: "helmrelease/cart.retail: Helm upgrade failed",
          },
        ],
      },
    },
    msteams: {
      settings: { address },
      fragment: {
        attachments: [
          {
            content: {
              body: [
                {
                  items: [
                    { text: "helmrelease/cart.retail" },
                    { text: "Helm upgrade failed", color: "attention" },
                    {
                      facts: [
                        { title: "summary", value: "cart impacted" },
                        { title: "env", value: "prod" },
                        { title: "revision", value: "1.4.2" },
                      ],
                    },
                  ],
                },
              ],
            },
          },
        ],
      },
    },
    alertmanager: {
      settings: { address },
      fragment: [
        {
          labels: {
            alertname: "FluxHelmReleaseUpgradefailed",
            env: "prod",
            revision: "1.4.2",
            severity: "error",
            reason: "UpgradeFailed",
            kind: "HelmRelease",
            name: "cart",
            namespace: "retail",
            reportingcontroller: "helm-controller",
          },
          annotations: { message: "Helm upgrade failed", summary: "cart impacted" },
        },
      ],
    },
    grafana: {
      settings: { address },
      fragment: {
        when: 1772451067,
        text: "helmrelease/cart.retail",
        tags: [
          ...["flux", "helm-controller", "env: prod", "revision: 1.4.2", "summary: cart impacted"],
          ...["kind: HelmRelease", "name: cart", "namespace: retail"],
        ],
      },
    },
    pagerduty: {
      settings: { address, channel: "key" },
      fragment: {
        event_action: "trigger",
        payload: {
          summary: "upgrade failed: helmrelease/cart",
          source: "Flux helm-controller",
          severity: "error",
          component: "cart",
          group: "HelmRelease",
        },
      },
    },
    datadog: {
      settings: { address, token: "k" },
      fragment: {
        title: "Events from the HelmRelease cart/retail",
        alert_type: "error",
        tags: [
          ...["flux_reporting_controller:helm-controller", "flux_reason:upgradefailed", "kube_kind:helmrelease"],
          ...["kube_name:cart", "kube_namespace:retail", "env:prod", "revision:1.4.2", "summary:cart impacted"],
        ],
      },
    },
    discord: { settings: { address }, fragment: { attachments: [{ color: "danger", fallback: "" }] } },
    rocket: { settings: { address }, fragment: { username: "", attachments: [{ color: "#FF0000", fallback: "" }] } },
    googlechat: {
      settings: { address },
      fragment: {
        cards: [
          {
            sections: [
              { widgets: [{ textParagraph: { text: '<font color="#ff0000">Helm upgrade failed</font>' } }] },
              { widgets: [{}, {}, { keyValue: { topLabel: "summary", content: "cart impacted" } }] },
            ],
          },
        ],
      },
    },
    webex: {
      settings: { address, channel: "room", token: "t" },
      fragment: {
        roomId: "room",
        markdown:
          "💣 **helmrelease/cart.retail**\nHelm upgrade failed\n>**env**: prod\n>**revision**: 1.4.2\n>**summary**: cart impacted\n",
      },
    },
    telegram: {
      settings: { channel: "-100", token: "t" },
      fragment: {
        chat_id: "-100",
        text: "*🚨 helmrelease/cart/retail*\nHelm upgrade failed\n\\- *env*: prod\n\\- *revision*: 1\\.4\\.2\n\\- *summary*: cart impacted\n",
      },
    },
    lark: {
      settings: { address },
      fragment: {
        card: {
          header: { title: { content: "🚨 helmrelease/cart.retail" }, template: "red" },
          elements: [
            { text: { content: "**Helm upgrade failed**\n\nenv: prod\nrevision: 1.4.2\nsummary: cart impacted\n" } },
          ],
        },
      },
    },
    matrix: {
      settings: { address, channel: "!room:example.test", token: "t" },
      fragment: {
        body: "🚨 helmrelease/cart.retail\nHelm upgrade failed\n- env: prod\n- revision: 1.4.2\n- summary: cart impacted\n",
      },
    },
    opsgenie: {
      settings: { address, token: "k" },
      fragment: { details: { env: "prod", revision: "1.4.2", summary: "cart impacted", severity: "error" } },
    },
    generic: { settings: { address }, fragment: { message: "Helm upgrade failed", severity: "error" } },
    "generic-hmac": { settings: { address, token: "k" }, fragment: { reason: "UpgradeFailed" } },
  };

  test.each(Object.entries(fragments))("%s", async (type, { settings, fragment }) => {
    const { requests, fault } = await sent(type, settings, failed);
    expect(fault).toBeUndefined();
    expect(requests.map(bodyOf)).toMatchObject([fragment]);
  });

  test("zulip", async () => {
    const settings = { address, channel: "stream/topic/more", ...{ username: "bot", password: "key" } };
    const { requests } = await sent("zulip", settings, failed);
    expect(Object.fromEntries(new URLSearchParams(requests[0]?.raw))).toEqual({
      type: "stream",
      to: "stream",
      topic: "topic/more",
      content:
        "## Flux Status\n\n⚠️ HelmRelease/retail/cart\n\nHelm upgrade failed\n\nMetadata:\n* `env`: prod\n* `revision`: 1.4.2\n* `summary`: cart impacted\n",
    });
  });
});

test("the transaction id of Matrix is the digest of the event", async () => {
  const { requests } = await sent("matrix", { address: "https://a.test", channel: "r", token: "t" }, upgraded);
  expect(requests[0]?.path).toBe(
    "/_matrix/client/r0/rooms/r/send/m.room.message/dcab12b82ce0ed9ab1cd36cc866e36962b4bf87c",
  );
});

test("keys that look like numbers keep their alphabetical order", async () => {
  const event = { ...upgraded, metadata: { a: "1", "10": "2", "2": "3" } };
  const { requests } = await sent("generic", { address: "https://a.test" }, event);
  expect(requests[0]?.raw).toContain('"metadata":{"10":"2","2":"3","a":"1"}');
});
