import { load } from "js-yaml";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CliWorld, cliWorld } from "../cli-world.ts";

const never = new AbortController().signal;
const apiVersion = "notification.toolkit.fluxcd.io/v1beta3";
let world: CliWorld;
beforeAll(async () => {
  world = await cliWorld();
  const objects = [
    { kind: "Provider", name: "chat", spec: { type: "generic", address: "http://127.0.0.1:1/" } },
    {
      kind: "Alert",
      name: "all",
      spec: { providerRef: { name: "chat" }, eventSources: [{ kind: "Bucket", name: "*" }] },
    },
  ];
  for (const { kind, name, spec } of objects) {
    const manifest = { apiVersion, kind, metadata: { name, namespace: "default" }, spec };
    await world.cluster.apply(manifest, { manager: "test", force: true }, never);
  }
});
afterAll(() => world.close());

const sh = (...args: readonly string[]) => world.sh(...args, "-n", "default");

test("Alerts and Providers are listed as ready, since they have no status", async () => {
  expect((await sh("get", "alerts")).out).toMatch(/^all\s+False\s+True\s+Alert is Ready\s*$/m);
  expect((await sh("get", "alert-providers")).out).toMatch(/^chat\s+False\s+True\s+Provider is Ready\s*$/m);
});

test("an Alert is suspended and resumed, without a wait for a status", async () => {
  expect((await sh("suspend", "alert", "all")).err).toContain("alert suspended");
  expect((await sh("get", "alerts")).out).toMatch(/^all\s+True/m);
  const resumed = await sh("resume", "alert", "all");
  expect([resumed.code, resumed.err]).toEqual([0, expect.stringContaining("Alert all reconciliation completed")]);
});

test("a Provider is exported as it was written, and asking for a run of it says that there is none", async () => {
  expect(load((await sh("export", "alert-provider", "chat")).out)).toEqual({
    apiVersion,
    kind: "Provider",
    metadata: { name: "chat", namespace: "default" },
    spec: { type: "generic", address: "http://127.0.0.1:1/" },
  });
  expect((await sh("reconcile", "alert-provider", "chat")).err).toContain("reconciliation not supported by the object");
});

test("the API server refuses what Flux's does", async () => {
  const spec = { type: "slack", commitStatusExpr: "'x'" };
  const manifest = { apiVersion, kind: "Provider", metadata: { name: "bad", namespace: "default" }, spec };
  const apply = (change: object) =>
    world.cluster.apply({ ...manifest, spec: { ...spec, ...change } }, { manager: "test", force: true }, never);
  await expect(apply({})).rejects.toThrow(
    "spec.commitStatusExpr is only supported for the 'github', 'gitlab', 'gitea', 'bitbucketserver', 'bitbucket', 'azuredevops' provider types",
  );
  await expect(apply({ type: "zoom", commitStatusExpr: undefined })).rejects.toThrow(/spec.type: Unsupported value/);
  await expect(apply({ type: "generic", commitStatusExpr: undefined, timeout: "1h" })).rejects.toThrow(/spec.timeout/);
});
