import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ecrRegion } from "../../../../lib/aws/ecr/ecr-host.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { maxScanMs } from "../../../../lib/flows/image-repository/registry.ts";
import { type RepositoryWorld, repositoryWorld } from "./repository-world.ts";

let world: RepositoryWorld;
beforeEach(async () => {
  world = await repositoryWorld();
  await world.push(["1.0.0"]);
});
afterEach(() => world.close());

/** Makes the registry ask for a login: the one of this process lets everybody in. */
function wantLogin(): void {
  world.state.answered = ({ headers, url }) => {
    if (headers?.["authorization"] !== undefined || url.endsWith("/v2/")) return undefined;
    return { url, status: 401, headers: { "www-authenticate": "Basic" }, body: new Uint8Array() };
  };
}

function putSecret(name: string, config: JsonObject, type = "kubernetes.io/dockerconfigjson"): void {
  const data = { ".dockerconfigjson": btoa(JSON.stringify(config)) };
  world.put({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "apps" }, type, data });
}

const login = (password: string) => ({ auth: btoa(`me:${password}`) });
const sentLogin = () => world.sent.at(-1)?.headers?.["authorization"];
const ready = () => world.conditions().find((one) => one.startsWith("Ready="));

describe("the login of an ImageRepository", () => {
  test("image-automation/19: a missing pull Secret gives AuthenticationFailed, and is retried", async () => {
    world.apply({ secretRef: { name: "none" } });
    expect(await world.run()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    expect(world.conditions()).toEqual([
      "Reconciling=True ProgressingWithRetry: processing object: new generation -1 -> 1",
      'Ready=False AuthenticationFailed: failed to configure authentication options: secrets "none" not found',
    ]);
  });

  test("a deleted Secret is noticed even if no scan is due", async () => {
    putSecret("pull", { auths: {} });
    world.apply({ secretRef: { name: "pull" } });
    await world.run();
    world.apply({ secretRef: { name: "gone" }, interval: "2h" });
    await world.run({ isRequested: true });
    expect(ready()).toContain('secrets "gone" not found');
  });

  test("is the Secret's entry for the host, also if the entry has a scheme and a path", async () => {
    wantLogin();
    putSecret("pull", { auths: { "other.test": login("no"), [`http://${world.address}/app`]: login("hunter2") } });
    world.apply({ secretRef: { name: "pull" } });
    await world.run();
    expect(ready()).toMatch(/^Ready=True/);
    expect(sentLogin()).toBe(`Basic ${btoa("me:hunter2")}`);
    expect(JSON.stringify([world.writes, world.warned])).not.toContain("hunter2");
  });

  test("its own Secret takes precedence over those of its service account, and no other entry is tried", async () => {
    wantLogin();
    putSecret("pull", { auths: { [world.address]: login("own") } });
    putSecret("account", { auths: { [world.address]: login("of the account") } });
    const imagePullSecrets = [{ name: "account" }];
    world.put({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "puller" }, imagePullSecrets });
    world.apply({ secretRef: { name: "pull" }, serviceAccountName: "puller" });
    await world.run();
    expect(sentLogin()).toBe(`Basic ${btoa("me:own")}`);
    world.apply({ serviceAccountName: "puller" });
    world.ask("1");
    await world.run();
    expect(sentLogin()).toBe(`Basic ${btoa("me:of the account")}`);
  });

  test("a Secret of another type is ignored, as in Flux, and the log says so", async () => {
    wantLogin();
    putSecret("pull", { auths: { [world.address]: login("hunter2") } }, "Opaque");
    world.apply({ secretRef: { name: "pull" } });
    await world.run();
    expect(ready()).toMatch(/^Ready=False ReadOperationFailed: scan failed: GET .*401 Unauthorized/);
    expect(world.warned).toContain("secret has no registry credentials");
  });

  test.each([
    [{ serviceAccountName: "none" }, "serviceaccount 'apps/none' not found"],
    [{ certSecretRef: { name: "none" } }, 'secrets "none" not found'],
    [{ proxySecretRef: { name: "none" } }, "secret 'apps/none' not found"],
  ])("a missing object that %o names is reported as in Flux", async (spec, why) => {
    world.apply(spec);
    await world.run();
    expect(ready()).toBe(`Ready=False AuthenticationFailed: failed to configure authentication options: ${why}`);
  });

  test("image-automation/22: a cloud provider that does not match the registry fails the scan", async () => {
    for (const [provider, name] of [
      ["azure", "Azure"],
      ["gcp", "GCP"],
    ]) {
      world.apply({ provider: provider ?? "" });
      await world.run();
      expect(ready()).toContain(
        `Ready=False ReadOperationFailed: scan failed: Get "http://${world.address}/v2/app/tags/list?n=1000": invalid ${name} registry: '${world.address}'. must match `,
      );
    }
  });

  test("a service account with a cloud identity is refused and not retried", async () => {
    world.apply({ provider: "aws", serviceAccountName: "puller" });
    expect(await world.run()).toMatchObject({ outcome: "stalled" });
    expect(ready()).toMatch(/^Ready=False FeatureGateDisabled: to use spec\.serviceAccountName for provider/);
  });
});

test("image-automation/22: provider aws logs in only when needed, and refuses a host outside ECR with Flux's text", async () => {
  await world.close();
  const credentials = async ({ host }: { host: string }) => {
    ecrRegion(host);
    return { username: "AWS", password: new Secret("token") };
  };
  world = await repositoryWorld({ aws: { credentials } });
  world.apply({ provider: "aws" });
  await world.run();
  expect(ready()).toContain(`/v2/app/tags/list?n=1000": invalid AWS registry: '${world.address}'. must match `);
});

describe("image-automation/18: the timeout of a scan", () => {
  test.each([
    [{ interval: "5m" }, 300_000],
    [{ interval: "5m", timeout: "20s" }, 20_000],
    [{ interval: "5m", timeout: "10ms" }, 1_000],
    [{ interval: "24h" }, maxScanMs],
  ])("for %o is the spec's timeout or its interval, and at least one second", async (spec, timeoutMs) => {
    world.apply(spec);
    await world.run();
    expect(world.sent.find(({ url }) => url.includes("/tags/list"))?.timeoutMs).toBe(timeoutMs);
  });
});
