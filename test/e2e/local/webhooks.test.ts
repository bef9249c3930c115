import { createHmac } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ReceiverStatus } from "../../../lib/api/receiver.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { maxBodyBytes } from "../../../lib/receiver/delivery.ts";
import type { SpawnedLocal } from "../../../local/sluice-process.ts";
import { readStateDatabase } from "../../../local/state/state-database.ts";
import { deadlineMs } from "../../deadline.ts";
import { rsa, signedToken, startIssuer } from "../../unit/receiver/token-issuer.ts";
import { isAtRest } from "../recorded-flux/at-rest.ts";
import { configMap, followApp, type LocalWorld, localWorld } from "./local-world.ts";

const { signal } = new AbortController();
const patient = { timeout: deadlineMs, interval: 25 };
const token = "q7Zt-58fe21c0b94d";
/** As GitHub sends it. */
const push = '{"ref":"refs/heads/main","repository":{"full_name":"example/app"}}';
const apiVersion = "notification.toolkit.fluxcd.io/v1";

describe("a webhook to sluice local", () => {
  let world: LocalWorld;
  let local: SpawnedLocal;
  let cluster: Cluster;
  beforeAll(async () => {
    world = await localWorld();
    local = await world.start();
    cluster = await world.cluster(local);
    await world.push(local, [configMap("a", "1")]);
    await followApp(cluster, local);
    await apply("Secret", "token", { stringData: { token } }, "v1");
    await receiver("hook", { type: "github", secretRef: { name: "token" }, events: ["push"] });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const apply = (kind: string, name: string, content: JsonObject, version = apiVersion) =>
    cluster.apply(
      { apiVersion: version, kind, metadata: { name, namespace: "default" }, ...content },
      { manager: "test", force: true },
      signal,
    );
  const receiver = (name: string, spec: JsonObject) =>
    apply("Receiver", name, { spec: { resources: [{ kind: "OCIRepository", name: "app" }], ...spec } });
  const path = async (name = "hook"): Promise<string> => {
    const ref = { group: "notification.toolkit.fluxcd.io", version: "v1", kind: "Receiver", namespace: "default" };
    const live = await cluster.get({ ...ref, name }, signal);
    return ReceiverStatus.parse(live?.["status"] ?? {}).webhookPath ?? "";
  };
  /** How often the source has looked at its registry. */
  const looks = async (): Promise<number> => {
    const events = await cluster.list({ group: "", version: "v1", kind: "Event", namespace: "default" }, signal);
    return events.filter(({ reason }) => reason === "ArtifactUpToDate").length;
  };
  /** What was asked for before is done, and told. */
  const untilAtRest = async (): Promise<void> => {
    const database = readStateDatabase(join(local.state, "state.db"));
    try {
      await expect.poll(() => isAtRest(database, "default"), patient).toBe(true);
    } finally {
      database.close();
    }
  };
  const deliver = (at: string, headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer> = push) =>
    fetch(`${local.receiver}${at}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-github-event": "push", ...headers },
      body,
    });
  const signature = (key: string) => ({
    "x-hub-signature-256": `sha256=${createHmac("sha256", key).update(push).digest("hex")}`,
  });

  test("that is signed wakes the source, and one with another signature does not", async () => {
    await expect.poll(() => path(), patient).toMatch(/^\/hook\/[0-9a-f]{64}$/);
    const at = await path();
    await untilAtRest();
    const before = await looks();
    const refused = await deliver(at, signature("another"));
    expect([refused.status, await refused.text()]).toEqual([400, ""]);
    await untilAtRest();
    expect(await looks()).toBe(before);
    const taken = await deliver(at, signature(token));
    expect([taken.status, await taken.text()]).toEqual([200, ""]);
    await expect.poll(looks, patient).toBe(before + 1);
    await untilAtRest();
    expect(await looks()).toBe(before + 1);
    expect(world.log.join("\n")).not.toContain(token);
  });

  test("is accepted at the cluster owner's host name", async () => {
    const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "kube-system", name: "sluice-owner" };
    const owner = await cluster.get(ref, signal);
    expect(owner?.["data"]).toMatchObject({ webhookUrl: local.receiver });
  });

  test("with a token of an OIDC issuer wakes the source, and without one does not", async () => {
    await using issuer = await startIssuer();
    const validations = [{ expression: "claims.sub == 'main'", message: "not main" }];
    await receiver("jobs", { type: "generic-oidc", oidcProviders: [{ issuerURL: issuer.url, validations }] });
    await expect.poll(() => path("jobs"), patient).toMatch(/^\/hook\/[0-9a-f]{64}$/);
    const at = await path("jobs");
    const before = await looks();
    expect((await deliver(at, {})).status).toBe(400);
    const claims = { iss: issuer.url, aud: "notification-controller", sub: "main", exp: Date.now() / 1000 + 3_600 };
    const bearer = `Bearer ${signedToken(rsa.privateKey, { alg: "RS256", kid: "one" }, claims)}`;
    // The first call may find that the issuer's keys come too late for its answer.
    await expect.poll(async () => (await deliver(at, { authorization: bearer })).status, patient).toBe(200);
    await expect.poll(looks, patient).toBeGreaterThan(before);
    expect(world.log.join("\n")).not.toContain(bearer);
  });

  test("is refused by its size and by its path before any other check", async () => {
    const at = await path();
    expect((await deliver(at, {}, new Uint8Array(maxBodyBytes + 1))).status).toBe(413);
    expect((await deliver(`${at}?a=b`, signature(token))).status).toBe(404);
    const elsewhere = await deliver("/other", {});
    expect([elsewhere.status, await elsewhere.text()]).toEqual([404, "404 page not found\n"]);
  });

  test.each([
    { spec: { type: "github" }, why: "secretRef is required when type is not generic-oidc" },
    {
      spec: { type: "generic-oidc", secretRef: { name: "token" } },
      why: "generic-oidc receivers must define at least one oidcProvider",
    },
    {
      spec: {
        type: "generic-oidc",
        secretRef: { name: "token" },
        oidcProviders: [{ issuerURL: "https://a", validations: [{ expression: "true", message: "x" }] }],
      },
      why: "secretRef cannot be set when type is generic-oidc",
    },
  ])("33: has a Receiver whose spec the API server validates: $why", async ({ spec, why }) => {
    await expect(receiver("other", spec)).rejects.toThrow(why);
  });
});
