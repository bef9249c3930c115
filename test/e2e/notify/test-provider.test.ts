import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import { type CliWorld, cliWorld } from "../cli-world.ts";
import { type EventServer, eventServer } from "./event-server.ts";

const never = new AbortController().signal;
const namespace = "default";

let world: CliWorld;
let server: EventServer;
beforeAll(async () => {
  server = await eventServer();
  world = await cliWorld();
});
afterAll(async () => {
  await world.close();
  await server[Symbol.asyncDispose]();
});

async function provider(name: string, spec: JsonObject, secret?: Readonly<Record<string, string>>): Promise<void> {
  const apply = { manager: "test", force: true };
  if (secret !== undefined) {
    await world.cluster.apply(
      { apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, stringData: secret },
      apply,
      never,
    );
  }
  const secretRef = secret === undefined ? {} : { secretRef: { name } };
  await world.cluster.apply(
    {
      apiVersion: "notification.toolkit.fluxcd.io/v1beta3",
      kind: "Provider",
      metadata: { name, namespace },
      spec: { ...spec, ...secretRef },
    },
    apply,
    never,
  );
}

const notifyTest = (...args: readonly string[]) => world.sh("-n", namespace, "notify", "test", ...args);
const host = () => new URL(server.at("/")).host;

test("notify test sends an event of reason Test, and prints the type, the host and the answer", async () => {
  await provider("hook", { type: "generic" }, { address: server.at("/hook?key=hunter2-in-the-query") });
  const { code, out, err } = await notifyTest("hook", "--metadata", "env=dev");
  expect([code, out, err]).toEqual([
    0,
    "",
    `► sending a test event to alert provider hook of type generic in default namespace
► POST to ${host()}: answered 200
✔ test event sent
`,
  ]);
  expect(server.arrived.at(-1)?.event).toMatchObject({
    involvedObject: { kind: "Provider", namespace, name: "hook", apiVersion: "notification.toolkit.fluxcd.io/v1beta3" },
    severity: "info",
    reason: "Test",
    message: "Test of Provider default/hook by sluice notify test",
    metadata: { env: "dev" },
    reportingController: "sluice",
  });
});

test("notify test uses the implementation of the Provider's type", async () => {
  await provider("chat", { type: "slack", channel: "general", address: server.at("/chat") });
  expect((await notifyTest("chat")).code).toBe(0);
  expect(server.arrived.at(-1)?.event).toMatchObject({
    channel: "general",
    attachments: [{ color: "good", author_name: "provider/chat.default" }],
  });
});

test("a Provider that refuses ends notify test with exit code 1 and its reason, without values of its Secret", async () => {
  await provider("closed", { type: "generic" }, { address: server.at("/refuses"), token: "hunter2" });
  const { code, err } = await notifyTest("closed");
  expect(code).toBe(1);
  expect(err).toContain(`► POST to ${host()}: answered 403\n`);
  expect(err).toMatch(/✗ test event not sent: .*request failed with status code 403/);
  expect(err).not.toMatch(/hunter2|\/refuses/);
});

test("notify test reports invalid settings before any request", async () => {
  await provider("nowhere", { type: "slack" });
  await provider("lost", { type: "generic", address: server.at("/lost"), secretRef: { name: "none" } });
  expect((await notifyTest("nowhere")).err).toMatch(/✗ test event not sent: .*invalid Slack hook URL/);
  const { code, err } = await notifyTest("lost");
  expect([code, err]).toEqual([1, expect.stringContaining(`secrets "none" not found`)]);
  expect(server.arrived.filter(({ path }) => path === "/lost")).toEqual([]);
});

test("notify test needs the commit, or the number of the pull request, for a Provider of a git host", async () => {
  await provider("status", { type: "github", address: "https://github.invalid/team/app" }, { token: "hunter2" });
  await provider("comment", { type: "giteapullrequestcomment", address: "https://gitea.invalid/team/app" });
  expect((await notifyTest("status")).err).toContain(
    "a Provider of type github sets the status of a commit: name it with --metadata revision=main@sha1:COMMIT",
  );
  expect((await notifyTest("comment")).err).toContain("name it with --metadata change_request=NUMBER");
});

test("notify test also works for a suspended Provider, and says that it is suspended", async () => {
  await provider("paused", { type: "generic", address: server.at("/paused"), suspend: true });
  const { code, err } = await notifyTest("paused");
  expect([code, err]).toEqual([0, expect.stringContaining("the provider is suspended: Alerts send nothing to it")]);
  expect(server.arrived.at(-1)?.path).toBe("/paused");
});

test("notify test names a missing Provider and invalid arguments", async () => {
  expect(await notifyTest("none")).toMatchObject({
    ...{ code: 1, err: `✗ Provider object 'none' not found in "default" namespace\n` },
  });
  expect((await notifyTest()).err).toBe("✗ alert provider name is required\n");
  expect((await notifyTest("hook", "--metadata", "env")).err).toBe("✗ invalid metadata 'env', must be key=value\n");
});

test("notify test sends through the API server to a Service of the cluster, and prints why nothing is passed on", async () => {
  await provider("inside", { type: "generic", address: "http://hook.default.svc:8080/events" });
  const { code, err } = await notifyTest("inside");
  expect(code).toBe(1);
  expect(err).toContain(
    "the API server passes nothing on to Service default/hook: the embedded cluster runs no containers",
  );
});
