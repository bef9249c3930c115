import { createServer, type Server } from "node:https";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { digestOf } from "../../../lib/core/digest.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { pem } from "../../doubles/pem.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { ociRepository, sourceWorld, type World } from "./source-world.ts";

const [certificate, key, expired] = await Promise.all([pem("server.crt"), pem("server.key"), pem("expired.crt")]);

let world: World;
beforeEach(async () => {
  world = await sourceWorld();
});
afterEach(async () => {
  await world.close();
});

function secret(name: string, data: Readonly<Record<string, string>>): void {
  const encoded = Object.entries(data).map(([field, text]) => [field, Buffer.from(text).toString("base64")]);
  const metadata = { name, namespace: "apps" };
  world.apply({ apiVersion: "v1", kind: "Secret", metadata, data: Object.fromEntries(encoded) });
}

const Conditions = z.object({
  conditions: z.array(z.object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() })),
});

function ready() {
  const found = Conditions.parse(world.get("app")["status"]).conditions.find(({ type }) => type === "Ready");
  return found ?? { status: "none", reason: "none", message: "none" };
}

describe("credentials of an OCIRepository", () => {
  const config = (password: string): string =>
    JSON.stringify({ auths: { [world.address]: { username: "robot", password } } });
  const asked = (): (string | undefined)[] =>
    world.sent.filter(({ method }) => method === "HEAD").map(({ headers }) => headers?.["authorization"]);
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;

  /** Makes the registry ask for a login: the embedded one lets everybody in. */
  function askForLogin(): void {
    const open = { ...world.deps.http };
    world.deps.http.send = async (request, signal) => {
      const response = await open.send(request, signal);
      if (request.headers?.["authorization"] !== undefined || request.url.endsWith("/v2/")) return response;
      return { url: request.url, status: 401, headers: { "www-authenticate": "Basic" }, body: new Uint8Array() };
    };
  }

  test("come from its Secret, and otherwise from the pull secrets of its service account", async () => {
    await world.push("latest", { "a.yaml": "a" });
    secret("other", { ".dockerconfigjson": '{"auths":{"elsewhere":{"username":"x","password":"y"}}}' });
    secret("pull", { ".dockerconfigjson": config("hunter2") });
    const metadata = { name: "puller", namespace: "apps" };
    world.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata, imagePullSecrets: [{ name: "pull" }] });
    const spec = { url: `oci://${world.address}/app`, secretRef: { name: "other" }, serviceAccountName: "puller" };
    world.apply(ociRepository("app", spec));
    askForLogin();
    await world.run();
    expect(ready()).toMatchObject({ status: "True" });
    expect(asked()).toEqual([undefined, basic("robot:hunter2")]);
    expect(JSON.stringify([world.writes, world.logged])).not.toContain("hunter2");
  });

  test("follow their Secret from run to run: the old password is refused and the new one taken without a restart", async () => {
    let password = "hunter2";
    const open = { ...world.deps.http };
    world.deps.http.send = async (request, signal) => {
      const response = await open.send(request, signal);
      if (request.headers?.["authorization"] === basic(`robot:${password}`) || request.url.endsWith("/v2/"))
        return response;
      return { url: request.url, status: 401, headers: { "www-authenticate": "Basic" }, body: new Uint8Array() };
    };
    await world.push("latest", { "a.yaml": "a" });
    secret("pull", { ".dockerconfigjson": config("hunter2") });
    world.apply(ociRepository("app", { url: `oci://${world.address}/app`, secretRef: { name: "pull" } }));
    await world.run();
    expect(ready()).toMatchObject({ status: "True" });
    password = "correct horse";
    await world.run();
    expect(ready()).toMatchObject({ status: "False", reason: "OCIArtifactPullFailed" });
    secret("pull", { ".dockerconfigjson": config("correct horse") });
    await world.run();
    expect(ready()).toMatchObject({ status: "True", reason: "Succeeded" });
    expect(asked().at(-1)).toBe(basic("robot:correct horse"));
  });

  test("a missing Secret of the object is reported before its service account; a missing pull secret is reported as such", async () => {
    const metadata = { name: "puller", namespace: "apps" };
    world.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata, imagePullSecrets: [{ name: "pull" }] });
    const spec = { url: `oci://${world.address}/app`, secretRef: { name: "own" }, serviceAccountName: "nobody" };
    world.apply(ociRepository("app", spec));
    await world.run();
    expect(ready().message).toBe(`failed to get credential: failed to get secret 'apps/own': secrets "own" not found`);
    world.apply(ociRepository("app", { url: spec.url, serviceAccountName: "puller" }));
    await world.run();
    expect(ready().message).toBe(
      "failed to get credential: failed to get image pull secret for serviceaccount 'apps/puller': secret 'apps/pull' not found",
    );
  });

  test("11.3/78: a missing service account fails the run", async () => {
    world.apply(ociRepository("app", { url: `oci://${world.address}/app`, serviceAccountName: "nobody" }));
    await world.run();
    expect(ready()).toMatchObject({
      reason: "AuthenticationFailed",
      message: "failed to get credential: serviceaccount 'apps/nobody' not found",
    });
  });

  test.each([
    ["", "resource name may not be empty"],
    ["a/b", `invalid resource name "a/b": [may not contain '/']`],
    ["..", `invalid resource name "..": [may not be '..']`],
    ["a%2f/b", `invalid resource name "a%2f/b": [may not contain '/' may not contain '%']`],
  ])(
    "a Secret with the invalid name '%s' is not requested, and fails with the message of Flux's client",
    async (name, fault) => {
      const open = { ...world.deps.home };
      world.deps.home.get = async (ref, signal) => {
        if (ref.kind === "Secret") throw new Error("the API server answers with all of them");
        return open.get(ref, signal);
      };
      world.apply(ociRepository("app", { url: `oci://${world.address}/app`, secretRef: { name } }));
      await world.run();
      expect(ready()).toMatchObject({
        reason: "AuthenticationFailed",
        message: `failed to get credential: failed to get secret 'apps/${name}': ${fault}`,
      });
    },
  );

  test("a Secret that Sluice is forbidden to read is reported with the API server's message", async () => {
    const open = { ...world.deps.home };
    world.deps.home.get = async (ref, signal) => {
      if (ref.kind !== "Secret") return open.get(ref, signal);
      throw new ApiError({ code: 403, reason: "Forbidden", message: 'secrets "pull" is forbidden' });
    };
    world.apply(ociRepository("app", { url: `oci://${world.address}/app`, secretRef: { name: "pull" } }));
    await world.run();
    expect(ready()).toMatchObject({
      reason: "AuthenticationFailed",
      message: `failed to get credential: failed to get secret 'apps/pull': secrets "pull" is forbidden`,
    });
  });

  test("a Secret that cannot be parsed is reported without its content", async () => {
    secret("pull", { ".dockerconfigjson": "hunter2" });
    world.apply(ociRepository("app", { url: `oci://${world.address}/app`, secretRef: { name: "pull" } }));
    await world.run();
    expect(ready().message).toBe(
      "failed to get credential: secret 'apps/pull', key '.dockerconfigjson': it is not JSON",
    );
  });

  test("a Secret without credentials is logged by name, and anonymous access is tried", async () => {
    await world.push("latest", { "a.yaml": "a" });
    secret("pull", { password: "x" });
    world.apply(ociRepository("app", { url: `oci://${world.address}/app`, secretRef: { name: "pull" } }));
    await world.run();
    expect(ready()).toMatchObject({ status: "True" });
    expect(world.logged).toMatchObject([{ message: "secret has no registry credentials", fields: { secret: "pull" } }]);
  });
});

describe("the TLS Secret of an OCIRepository", () => {
  test("applies CA, client certificate or both to every request; current key names win over deprecated ones", async () => {
    const [cert, own, other] = await Promise.all([pem("client.crt"), pem("client.key"), pem("expired.crt")]);
    const [ca, pair] = [{ ca: certificate }, { cert, key: own }];
    const cases: readonly (readonly [Readonly<Record<string, string>>, object])[] = [
      [{ "ca.crt": certificate }, ca],
      [{ caFile: certificate }, ca],
      [{ "ca.crt": certificate, caFile: other }, ca],
      [{ "ca.crt": "", caFile: certificate }, ca],
      [{ "tls.crt": cert, "tls.key": own }, pair],
      [{ certFile: cert, keyFile: own }, pair],
      [{ "tls.crt": cert, keyFile: own, certFile: other }, pair],
      [
        { "ca.crt": certificate, "tls.crt": cert, "tls.key": own },
        { ...ca, ...pair },
      ],
      [
        { caFile: certificate, certFile: cert, keyFile: own },
        { ...ca, ...pair },
      ],
    ];
    const sent: unknown[] = [];
    world.deps.http.send = async ({ url, tls }) => {
      sent.push(tls);
      return { url, status: 404, headers: {}, body: new Uint8Array() };
    };
    for (const [data, tls] of cases) {
      sent.length = 0;
      secret("tls", data);
      const spec = { url: "oci://registry.example.test/app", insecure: false, certSecretRef: { name: "tls" } };
      world.apply(ociRepository("app", spec));
      await world.run();
      expect(sent.length).toBeGreaterThan(0);
      expect(sent).toEqual(sent.map(() => tls));
    }
  });
});

describe("an invalid TLS Secret", () => {
  test.each<readonly [what: string, data: Readonly<Record<string, string>>, message: string]>([
    ["11.1/30: tls.crt alone", { "tls.crt": "x" }, "secret 'apps/tls' contains 'tls.crt' but missing 'tls.key'"],
    ["tls.key alone", { "tls.key": "x" }, "secret 'apps/tls' contains 'tls.key' but missing 'tls.crt'"],
    ["neither", { other: "x" }, "secret 'apps/tls' must contain either 'ca.crt' or both 'tls.crt' and 'tls.key'"],
    ["an invalid CA", { "ca.crt": "hunter2" }, "failed to parse CA certificate"],
    ["an invalid pair", { "tls.crt": "hunter2", "tls.key": "hunter2" }, "failed to parse TLS certificate and key: "],
  ])("%s", async (_what, data, message) => {
    secret("tls", data);
    const url = "oci://registry.example.test/app";
    world.apply(ociRepository("app", { url, insecure: false, certSecretRef: { name: "tls" } }));
    await world.run();
    expect(ready().reason).toBe("AuthenticationFailed");
    expect(ready().message).toContain(`failed to generate transport for '${url}': ${message}`);
    expect(ready().message).not.toContain("hunter2");
  });

  test("an empty name counts as no reference, as in Flux", async () => {
    await world.push("latest", { "a.yaml": "a" });
    world.apply(ociRepository("app", { url: `oci://${world.address}/app`, certSecretRef: { name: "" } }));
    await world.run();
    expect(ready()).toMatchObject({ status: "True" });
  });

  test("a missing Secret fails the run", async () => {
    world.apply(ociRepository("app", { url: "oci://r.example.test/app", certSecretRef: { name: "tls" } }));
    await world.run();
    expect(ready().message).toBe(
      "failed to generate transport for 'oci://r.example.test/app': secret 'apps/tls' not found",
    );
  });
});

describe("11.3/75: a registry whose certificate has an unknown CA", () => {
  let server: Server;
  let host: string;
  beforeEach(async () => {
    const manifest = '{"layers":[]}';
    server = createServer({ cert: certificate, key }, (request, response) => {
      const isManifest = request.url?.includes("/manifests/") === true;
      response.writeHead(200, isManifest ? { "docker-content-digest": digestOf(manifest) } : {});
      response.end(request.method === "HEAD" ? undefined : manifest);
    });
    host = `127.0.0.1:${await portOnLoopback(server)}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const isReached = "no layers found in artifact";

  test("is accepted if the source is insecure", async () => {
    world.apply(ociRepository("app", { url: `oci://${host}/app` }));
    await world.run();
    expect(ready().message).toBe(isReached);
  });

  test("is refused otherwise, and plain HTTP is not tried", async () => {
    world.apply(ociRepository("app", { url: `oci://${host}/app`, insecure: false }));
    await world.run();
    expect(ready().message).toMatch(
      /^failed to determine artifact digest: Get "https:\S+\/v2\/": tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
    );
    expect(world.sent.filter(({ url }) => url.startsWith("http:"))).toEqual([]);
  });

  test("is accepted with the CA of certSecretRef, insecure or not", async () => {
    secret("tls", { "ca.crt": certificate });
    for (const insecure of [false, true]) {
      world.apply(ociRepository("app", { url: `oci://${host}/app`, insecure, certSecretRef: { name: "tls" } }));
      await world.run();
      expect(ready().message).toBe(isReached);
    }
  });

  test("is accepted if the system trusts its CA, even if certSecretRef has another CA", async () => {
    secret("tls", { "ca.crt": expired });
    world.apply(ociRepository("app", { url: `oci://${host}/app`, insecure: false, certSecretRef: { name: "tls" } }));
    const before = getCACertificates("default");
    setDefaultCACertificates([...before, certificate]);
    try {
      await world.run();
    } finally {
      setDefaultCACertificates(before);
    }
    expect(ready().message).toBe(isReached);
  });

  test("is refused with another CA in certSecretRef, even if the source is insecure", async () => {
    secret("tls", { "ca.crt": expired });
    world.apply(ociRepository("app", { url: `oci://${host}/app`, certSecretRef: { name: "tls" } }));
    await world.run();
    expect(ready().message).toContain("x509: certificate signed by unknown authority");
  });
});
