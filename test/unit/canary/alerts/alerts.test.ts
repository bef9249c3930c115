import { describe, expect, test } from "vitest";
import type { AlertSeverity } from "../../../../lib/api/canary.ts";
import { alertsOf } from "../../../../lib/canary/alerts/alerts.ts";
import { noHookTime } from "../../../../lib/canary/hooks/hook-timeout.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { HttpError } from "../../../../lib/core/ports/http.ts";
import { canaryOf, hooksWorld, type Turn } from "../hooks/hooks-world.ts";

const uid = "8f14e45f-ceea-467f-a9d8-0b1c2d3e4f50";

function provider(name: string, spec: Readonly<Record<string, unknown>> = {}, namespace = "test"): LiveObject {
  return {
    apiVersion: "flagger.app/v1beta1",
    kind: "AlertProvider",
    metadata: { name, namespace, uid },
    spec: { type: "slack", ...("secretRef" in spec ? {} : { address: `https://alerts.test/${name}` }), ...spec },
  };
}

function secret(data: Readonly<Record<string, string>>): LiveObject {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "address", namespace: "test", uid },
    data: Object.fromEntries(encoded),
  };
}

const alert = { message: "Canary is waiting for approval.", severity: "warn", hasFields: false } as const;
const one = { name: "on-call", severity: "info", providerRef: { name: "chat" } };

describe("canary/62: an alert of severity", () => {
  const alerts = ["info", "warn", "error", undefined].map((severity) => ({
    name: severity ?? "unset",
    ...(severity === undefined ? {} : { severity }),
    providerRef: { name: severity ?? "unset" },
  }));
  const objects = alerts.map(({ name }) => provider(name));

  test.each<{ readonly severity: AlertSeverity; readonly told: readonly string[] }>([
    { severity: "info", told: ["info"] },
    { severity: "warn", told: ["info", "warn"] },
    { severity: "error", told: ["info", "warn", "error"] },
  ])(
    "$severity goes to receivers of this severity or a lower one, and not to those without a severity",
    async ({ severity, told }) => {
      const world = hooksWorld({ objects });
      await alertsOf(canaryOf({ alerts }), world.deps).send({ ...alert, severity });
      expect(world.requests.map(({ url }) => url)).toEqual(told.map((name) => `https://alerts.test/${name}`));
    },
  );
});

describe("an alert is sent", () => {
  test("to Slack as recorded: with the facts of the Canary", async () => {
    const chat = provider("chat", { channel: "golden" });
    const world = hooksWorld({ objects: [chat] });
    const canary = canaryOf({ alerts: [one], threshold: 1, maxWeight: 50, stepWeight: 50 });
    const message = "New Deployment detected, initialization completed.";
    await alertsOf(canary, world.deps).send({ message, severity: "info", hasFields: true });
    const fields = [
      { title: "Target", value: "Deployment/podinfo.test", short: false },
      { title: "Failed checks threshold", value: "1", short: false },
      { title: "Progress deadline", value: "600s", short: false },
      { title: "Traffic routing", value: "Weight step: 50 max: 50", short: false },
    ];
    const attachment = {
      ...{ color: "good", author_name: "podinfo.test", text: message, mrkdwn_in: ["text"] },
      fields,
    };
    expect(world.bodies()).toEqual([
      JSON.stringify({
        ...{ channel: "golden", username: "flagger", icon_url: "", icon_emoji: ":rocket:" },
        attachments: [attachment],
      }),
    ]);
    expect(world.requests).toMatchObject([{ timeoutMs: 5_000, headers: { "content-type": "application/json" } }]);
    expect(world.requests[0]?.headers).not.toHaveProperty("authorization");
  });

  test.each([
    { analysis: { iterations: 2, match: [{}] }, routing: "A/B Testing" },
    { analysis: { iterations: 2 }, routing: "Blue/Green" },
    { analysis: { stepWeights: [1, 10, 60] }, routing: "Weight steps: 1,10,60 max: 0" },
    { analysis: { stepWeight: 0 }, routing: undefined },
  ])("with the cluster's name first and the traffic last: $routing", async ({ analysis, routing }) => {
    const world = hooksWorld({ objects: [provider("chat", { type: "msteams" })], settings: { clusterName: "eu-1" } });
    await alertsOf(canaryOf({ alerts: [one], ...analysis }), world.deps).send({ ...alert, hasFields: true });
    const facts = [
      { name: "Cluster", value: "eu-1" },
      { name: "Target", value: "Deployment/podinfo.test" },
      { name: "Failed checks threshold", value: "1" },
      { name: "Progress deadline", value: "600s" },
      ...(routing === undefined ? [] : [{ name: "Traffic routing", value: routing }]),
    ];
    expect(world.bodies()).toEqual([
      JSON.stringify({
        ...{ "@type": "MessageCard", "@context": "http://schema.org/extensions", themeColor: "0076D7" },
        summary: "podinfo.test",
        sections: [{ activityTitle: alert.message, activitySubtitle: "podinfo.test", facts }],
      }),
    ]);
  });

  test("to Discord at its path for Slack's format, without a token", async () => {
    const objects = [
      provider("chat", { type: "discord", secretRef: { name: "address" } }),
      secret({ address: "https://discord.test/api/webhooks/1/key", token: "key of nobody" }),
    ];
    const world = hooksWorld({ objects });
    await alertsOf(canaryOf({ alerts: [one] }), world.deps).send(alert);
    expect(world.requests.map(({ url }) => url)).toEqual(["https://discord.test/api/webhooks/1/key/slack"]);
    expect(world.requests[0]?.headers).not.toHaveProperty("authorization");
  });

  test("with address and token of a Secret, from a provider of another namespace, through its proxy", async () => {
    const spec = {
      ...{ secretRef: { name: "address" }, username: "release", channel: "deploys" },
      proxy: "http://proxy.test:3128",
    };
    const there = { ...secret({ address: "https://slack.test/api", token: "xoxb-1" }) };
    const objects = [
      provider("chat", spec, "shared"),
      { ...there, metadata: { ...there.metadata, namespace: "shared" } },
    ];
    const world = hooksWorld({ objects });
    const alerts = [{ ...one, providerRef: { name: "chat", namespace: "shared" } }];
    await alertsOf(canaryOf({ alerts }), world.deps).send(alert);
    expect(world.requests).toMatchObject([
      {
        url: "https://slack.test/api",
        headers: { authorization: "Bearer xoxb-1" },
        proxy: { url: new URL("http://proxy.test:3128") },
      },
    ]);
    expect(world.naming).toEqual(["shared"]);
    expect(world.bodies()[0]).toContain('"channel":"deploys","username":"release"');
  });

  test("to the receiver of the installation, of any severity, if the Canary has no alerts", async () => {
    const globalAlerts = {
      type: "slack",
      ...{ address: "https://global.test/", channel: "all" },
      ...{ username: "flagger", token: "t", proxy: "" },
    } as const;
    const world = hooksWorld({ settings: { globalAlerts } });
    await alertsOf(canaryOf({}), world.deps).send({ ...alert, severity: "info" });
    await alertsOf(canaryOf({ alerts: [{ ...one, severity: "error" }] }), world.deps).send(alert);
    expect(world.requests.map(({ url }) => url)).toEqual(["https://global.test/"]);
    expect(world.naming).toEqual(["test"]);
  });
});

describe("an alert that cannot be sent is logged, and the next one is sent", () => {
  const address = "https://hooks.test/services/T0/B0/key-of-the-hook";
  const inSecret = provider("chat", { secretRef: { name: "address" } });
  const next = { name: "next", severity: "info", providerRef: { name: "next" } };

  async function errorOf(objects: readonly LiveObject[], ...answers: readonly Turn[]) {
    const world = hooksWorld({ objects: [...objects, provider("next")], answers: [...answers, {}] });
    await alertsOf(canaryOf({ alerts: [one, next] }), world.deps).send(alert);
    expect(world.requests.at(-1)?.url).toBe("https://alerts.test/next");
    return world.log.lines;
  }

  test.each([
    { objects: [], error: 'alert provider chat.test error: alertprovider.flagger.app "chat" not found' },
    { objects: [inSecret], error: 'alert provider chat.test secretRef error: secrets "address" not found' },
    {
      objects: [inSecret, secret({ token: "t" })],
      error: "alert provider chat.test secret does not contain an address",
    },
    {
      objects: [inSecret, secret({ address: "hooks.test/key-of-the-hook" })],
      error: "alert provider chat.test send error: invalid Slack hook URL",
    },
    {
      objects: [provider("chat", { proxy: "proxy.test:key-of-the-proxy" })],
      error:
        "alert provider chat.test send error: unable to parse proxy URL: proxy URL must use one of the supported schemes (http, https, socks5), got 'proxy.test'",
    },
  ])("if it fails before sending: $error", async ({ objects, error }) => {
    expect(await errorOf(objects)).toEqual([{ message: "alert can't be sent", canary: "podinfo.test", error }]);
  });

  test("if the webhooks and alerts of its step have used up their time", async () => {
    const world = hooksWorld({ objects: [provider("chat")], leftMs: 0 });
    await alertsOf(canaryOf({ alerts: [one] }), world.deps).send(alert);
    expect(world.requests).toEqual([]);
    expect(world.log.lines).toMatchObject([{ error: `alert provider chat.test send error: ${noHookTime}` }]);
    const late = hooksWorld({ objects: [provider("chat")], leftMs: 3_000 });
    await alertsOf(canaryOf({ alerts: [one] }), late.deps).send(alert);
    expect(late.requests).toMatchObject([{ timeoutMs: 3_000 }]);
  });

  test("without address and token in the log, which the text of a server may contain", async () => {
    const objects = [inSecret, secret({ address, token: "xoxb-secret" })];
    const refused = { status: 403, body: `no ${address} for xoxb-secret` };
    const unreachable = () => {
      throw new HttpError("unreachable", `POST ${address}: dial tcp 10.0.0.1:443: connect: connection refused`);
    };
    const lines = [...(await errorOf(objects, refused)), ...(await errorOf(objects, unreachable))];
    expect(lines.map(({ error }) => error)).toEqual([
      "alert provider chat.test send error: postMessage failed: sending notification bad response 403: no ***** for *****",
      'alert provider chat.test send error: postMessage failed: sending notification failed to send: Post "*****": dial tcp 10.0.0.1:443: connect: connection refused',
    ]);
  });
});
