import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { textAt } from "../../cli/objects/read-object.ts";
import type { JsonObject } from "../../lib/core/json.ts";
import { withinDeadline } from "../deadline.ts";
import { type CliWorld, cliWorld } from "./cli-world.ts";

const { signal } = new AbortController();
const canary = { group: "flagger.app", version: "v1beta1", kind: "Canary", namespace: "default", name: "podinfo" };
let world: CliWorld;

/** Suspended, so that it stays as the tests put it: nothing is released here. */
beforeAll(async () => {
  world = await cliWorld();
  await world.cluster.create(
    {
      apiVersion: "flagger.app/v1beta1",
      kind: "Canary",
      metadata: { name: canary.name, namespace: canary.namespace },
      spec: {
        suspend: true,
        provider: "kubernetes",
        targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "podinfo" },
        service: { port: 9898 },
        analysis: {
          ...{ interval: "10s", threshold: 2, iterations: 3 },
          webhooks: [{ name: "gate", type: "confirm-promotion", url: "http://gate.test/" }],
        },
      },
    },
    { manager: "test" },
    signal,
  );
  // Of a suspended Canary the flow writes nothing but its first phase.
  await vi.waitFor(async () => {
    const live = await world.cluster.get(canary, signal);
    if (textAt(live ?? {}, "status", "phase") === "") throw new Error("no status yet");
  }, withinDeadline);
});
afterAll(() => world.close());

const sh = (...args: readonly string[]) => world.sh("-n", "default", ...args);

async function inPhase(phase: string, status: JsonObject = {}): Promise<void> {
  const lastTransitionTime = "2026-11-29T10:00:00Z";
  const message = "New revision detected, progressing canary analysis.";
  const conditions = [{ type: "Promoted", status: "Unknown", reason: phase, message, lastTransitionTime }];
  const body = { status: { phase, canaryWeight: 0, failedChecks: 0, iterations: 0, conditions, ...status } };
  await world.cluster.patch(canary, { type: "merge", body }, { manager: "test", subresource: "status" }, signal);
}

async function annotation(name: string): Promise<string | undefined> {
  return (await world.cluster.get(canary, signal))?.metadata.annotations?.[name];
}

test("promote canary opens the next closed gate of the run, and fails if there is none", async () => {
  await inPhase("Succeeded");
  expect(await sh("promote", "canary", "podinfo")).toMatchObject({
    code: 1,
    err: "✗ Canary podinfo has no run with a gate to open: its phase is Succeeded\n",
  });
  await inPhase("WaitingPromotion");
  const { code, err } = await sh("promote", "canary", "podinfo");
  expect({ code, err }).toEqual({
    code: 0,
    err: "✔ gate confirm-promotion of Canary podinfo is open for this run\n⚠️ Canary podinfo is suspended: it takes no step until it is resumed\n",
  });
  expect(await annotation("sluice.dev/promote")).toMatch(/^\d{4}-\d\d-\d\dT.* confirm-promotion$/);
});

test("rollback canary ends the current run, and fails if there is none", async () => {
  await inPhase("Waiting");
  const refused = await sh("rollback", "canary", "podinfo");
  expect(refused.err).toMatch("✗ Canary podinfo has no run to roll back: its phase is Waiting.");
  expect(await annotation("sluice.dev/rollback")).toBe(undefined);
  await inPhase("Progressing");
  expect((await sh("rollback", "canary", "podinfo")).err).toMatch("✔ Canary podinfo will be rolled back\n");
  expect(await annotation("sluice.dev/rollback")).toMatch(/^\d{4}-\d\d-\d\dT/);
});

test("why canary shows its events, and its current state on a cluster without the Gateway API", async () => {
  await inPhase("Progressing", { iterations: 1, failedChecks: 1, lastTransitionTime: "2026-11-29T10:00:20Z" });
  const at = "2026-11-29T10:00:10Z";
  const uid = (await world.cluster.get(canary, signal))?.metadata.uid;
  const message = "New revision detected! Scaling up podinfo.default";
  await world.cluster.create(
    {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "podinfo.1", namespace: "default" },
      involvedObject: { apiVersion: "flagger.app/v1beta1", kind: "Canary", name: "podinfo", namespace: "default", uid },
      ...{ type: "Normal", reason: "Synced", message, firstTimestamp: at, lastTimestamp: at, count: 1 },
    },
    { manager: "test" },
    signal,
  );
  const { code, out } = await sh("why", "canary", "podinfo");
  const rows = out
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t").map((cell) => cell.trim()));
  expect(code).toBe(0);
  expect(rows[0]).toEqual(["WHEN", "CANARY", "WHAT", "MESSAGE"]);
  expect(rows).toContainEqual([at, "0%", "began", message, ""]);
  expect(rows.at(-1)?.slice(0, 4)).toEqual([
    ...["2026-11-29T10:00:20Z", "0%", "now"],
    "Progressing: New revision detected, progressing canary analysis; suspended; iteration 1 of 3; failed checks 1 of 2",
  ]);
});

test.each([
  ["promote", "Canary object 'none' not found in \"default\" namespace"],
  ["rollback", "Canary object 'none' not found in \"default\" namespace"],
  ["why", "Canary object 'none' not found in \"default\" namespace"],
])("%s of a missing Canary fails, and so does the word with another kind", async (verb, why) => {
  expect(await sh(verb, "canary", "none")).toMatchObject({ code: 1, err: expect.stringContaining(why) });
  expect(await sh(verb, "kustomization", "podinfo")).toMatchObject({
    code: 1,
    err: expect.stringContaining("unknown command"),
  });
});

test("get lists Canaries, MetricTemplates and AlertProviders", async () => {
  const spec = { type: "slack", address: "https://hooks.test/" };
  const provider = { apiVersion: "flagger.app/v1beta1", kind: "AlertProvider", spec };
  const metadata = { name: "chat", namespace: "default" };
  await world.cluster.create({ ...provider, metadata }, { manager: "test" }, signal);
  expect((await sh("get", "canaries")).out).toMatch(/^NAME[^]*\npodinfo\s+Progressing/);
  expect((await sh("get", "alertproviders")).out).toMatch(/\nchat\s+slack/);
  expect((await sh("get", "metrictemplates")).err).toBe('✗ no MetricTemplate objects found in "default" namespace\n');
});
