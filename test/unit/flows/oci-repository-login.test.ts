import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { ecrLogin } from "../../../lib/aws/ecr/ecr-login.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { RegistryLoginRequest } from "../../../lib/core/ports/registry-login.ts";
import { Secret } from "../../../lib/core/secret.ts";
import type { OciRepositoryDeps } from "../../../lib/flows/oci-repository/oci-repository-flow.ts";
import { ociRepository, sourceWorld, type World } from "./source-world.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

async function open(logins?: OciRepositoryDeps["logins"]): Promise<World> {
  world = await sourceWorld(logins);
  return world;
}

const Status = z.object({
  conditions: z.array(z.object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() })),
});

function ready(of: World) {
  return Status.parse(of.get("app")["status"]).conditions.find(({ type }) => type === "Ready");
}

/** A login that works everywhere, and who has asked for it. */
function login() {
  const asked: RegistryLoginRequest[] = [];
  const credentials = async (request: RegistryLoginRequest) => {
    asked.push(request);
    return { username: "AWS", password: new Secret("hunter2") };
  };
  return { asked, logins: { aws: { credentials } } };
}

/** Makes the registry ask for a login: the embedded one lets everybody in. */
function wantLogin({ deps }: World): void {
  const open = { ...deps.http };
  deps.http.send = async (request, signal) => {
    const response = await open.send(request, signal);
    if (request.headers?.["authorization"] !== undefined || request.url.endsWith("/v2/")) return response;
    return { url: request.url, status: 401, headers: { "www-authenticate": "Basic" }, body: new Uint8Array() };
  };
}

/** Runs a source with `provider: aws` and a pull secret with this docker configuration. */
async function runWithSecret(here: World, config: JsonObject): Promise<void> {
  const data = { ".dockerconfigjson": btoa(JSON.stringify(config)) };
  here.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "pull", namespace: "apps" }, data });
  const spec = { url: `oci://${here.address}/app`, secretRef: { name: "pull" }, provider: "aws", insecure: false };
  here.apply(ociRepository("app", spec));
  await here.run();
}

describe("provider aws of an OCIRepository", () => {
  test("logs in with Sluice's identity, for this repository and on behalf of this namespace", async () => {
    const { asked, logins } = login();
    const here = await open(logins);
    await here.push("latest", { "a.yaml": "a" });
    wantLogin(here);
    here.apply(ociRepository("app", { url: `oci://${here.address}/app`, provider: "aws", insecure: false }));
    await here.run();
    expect(ready(here)).toMatchObject({ status: "True" });
    expect(asked).toEqual([{ host: here.address, repository: "app", cluster: "here", namespace: "apps" }]);
    expect(here.sent.at(-1)?.headers?.["authorization"]).toBe(`Basic ${btoa("AWS:hunter2")}`);
    expect(JSON.stringify([here.writes, here.logged])).not.toContain("hunter2");
  });

  test("11.3/76: is not used if a Secret is set, even one without an entry for the host", async () => {
    const { asked, logins } = login();
    const here = await open(logins);
    await here.push("latest", { "a.yaml": "a" });
    await runWithSecret(here, { auths: { elsewhere: { username: "x", password: "y" } } });
    expect(ready(here)).toMatchObject({ status: "True" });
    expect(asked).toEqual([]);
  });

  test("11.3/76: is not used if a Secret has an entry for the host, which is sent instead", async () => {
    const { asked, logins } = login();
    const here = await open(logins);
    await here.push("latest", { "a.yaml": "a" });
    wantLogin(here);
    const config = { auths: { [here.address]: { username: "robot", password: "static" } } };
    await runWithSecret(here, config);
    expect(ready(here)).toMatchObject({ status: "True" });
    expect(asked).toEqual([]);
    const sent = here.sent.flatMap(({ headers }) => headers?.["authorization"] ?? []);
    expect([...new Set(sent)]).toEqual([`Basic ${btoa("robot:static")}`]);
  });

  test.each([
    ["a tag", {}, "OCIArtifactPullFailed", "failed to determine artifact digest: invalid AWS registry: "],
    ["a range", { ref: { semver: ">=1" } }, "ReadOperationFailed", "invalid AWS registry: "],
  ])(
    "11.3/77: with a host outside ECR fails with the host and the expression, for %s",
    async (_, ref, reason, text) => {
      const clock = { now: () => 0 };
      const here = await open({ aws: ecrLogin({ connection: { region: "eu-west-1" }, clock, isAllowed: () => true }) });
      await here.push("latest", { "a.yaml": "a" });
      here.apply(ociRepository("app", { url: `oci://${here.address}/app`, provider: "aws", insecure: false, ...ref }));
      await here.run();
      expect(ready(here)).toMatchObject({ status: "False", reason });
      expect(ready(here)?.message).toContain(`${text}'${here.address}'. must match ^([0-9]{12})\\.dkr[.-]ecr`);
    },
  );

  test("with a service account without pull secrets is refused: Sluice must not log in with its own identity for it", async () => {
    const { asked, logins } = login();
    const here = await open(logins);
    here.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "robot", namespace: "apps" } });
    const spec = { url: `oci://${here.address}/app`, provider: "aws", insecure: false, serviceAccountName: "robot" };
    here.apply(ociRepository("app", spec));
    await here.run();
    expect(ready(here)).toMatchObject({ status: "False", reason: "UnsupportedField" });
    expect(asked).toEqual([]);
  });

  test.each([
    ["insecure", { insecure: true }],
    ["certSecretRef", { certSecretRef: { name: "tls" } }],
    ["proxySecretRef", { proxySecretRef: { name: "proxy" } }],
  ])("with %s is refused before any request, because our token could leak to another host", async (field, spec) => {
    const { asked, logins } = login();
    const here = await open(logins);
    const data = { "ca.crt": btoa("-----BEGIN CERTIFICATE-----"), address: btoa("http://proxy.test") };
    for (const name of ["tls", "proxy"]) {
      here.apply({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "apps" }, data });
    }
    here.apply(ociRepository("app", { url: `oci://${here.address}/app`, provider: "aws", insecure: false, ...spec }));
    await here.run();
    expect(ready(here)).toMatchObject({
      status: "False",
      reason: "InvalidProviderConfiguration",
      message: `spec.${field} cannot be set with provider aws, whose token is for the registry alone: remove it, or log in with a secretRef`,
    });
    const stalled = Status.parse(here.get("app")["status"]).conditions.find(({ type }) => type === "Stalled");
    expect(stalled).toMatchObject({ status: "True", reason: "InvalidProviderConfiguration" });
    expect([asked, here.sent]).toEqual([[], []]);
  });

  test("with insecure and a Secret is allowed, because Sluice's identity is not used", async () => {
    const { asked, logins } = login();
    const here = await open(logins);
    await here.push("latest", { "a.yaml": "a" });
    const data = { ".dockerconfigjson": btoa(JSON.stringify({ auths: {} })) };
    here.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "pull", namespace: "apps" }, data });
    const spec = { provider: "aws", insecure: true, secretRef: { name: "pull" } };
    here.apply(ociRepository("app", { url: `oci://${here.address}/app`, ...spec }));
    await here.run();
    expect(ready(here)).toMatchObject({ status: "True" });
    expect(asked).toEqual([]);
  });

  test("is refused by name if this installation has no AWS identity", async () => {
    const here = await open();
    here.apply(ociRepository("app", { url: `oci://${here.address}/app`, provider: "aws", insecure: false }));
    await here.run();
    expect(ready(here)).toMatchObject({
      status: "False",
      reason: "UnsupportedField",
      message: expect.stringContaining("spec.provider is not supported yet"),
    });
  });
});
