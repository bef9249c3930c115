import { randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type ApiClient, apiClient } from "../../lib/kube/api-client.ts";
import type { ClusterConfig } from "../../lib/kube/cluster-config.ts";
import { connect } from "../../lib/kube/connect.ts";
import { inClusterConfig } from "../../lib/kube/in-cluster.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { pem, pemFile } from "../doubles/pem.ts";
import { tunnelProxy } from "../doubles/tunnel-proxy.ts";
import { never } from "./state-back-end.ts";

const real = process.env["SLUICE_REAL_KUBECONFIG"] ?? "";
const Kubeconfig = z.object({
  clusters: z.tuple([
    z.object({ cluster: z.object({ server: z.string(), "certificate-authority-data": z.string() }) }),
  ]),
  users: z.tuple([z.object({ user: z.object({ token: z.string() }) })]),
});
const Reviewed = z.object({
  status: z.object({ userInfo: z.object({ username: z.string(), groups: z.array(z.string()) }) }),
});
const Token = z.object({ status: z.object({ token: z.string() }) });

/** A client that is closed when the test that asked for it is over. */
function opened<Client extends { close(): void }>(client: Client): Client {
  onTestFinished(() => client.close());
  return client;
}

/** Whom the API server takes us for. */
async function whoAmI(config: ClusterConfig): Promise<string> {
  const client = apiClient(config, { clock: systemClock, env: process.env });
  try {
    return (await review(client)).username;
  } finally {
    client.close();
  }
}

async function review(client: ApiClient) {
  const json = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const body = { type: "application/json", json };
  const answer = await client.expect({ verb: "create", method: "POST", path, body, repeatable: true }, never);
  return Reviewed.parse(JSON.parse(answer.text)).status.userInfo;
}

describe.skipIf(real === "")("the ways to log in to a real API server (SLUICE_REAL_KUBECONFIG)", () => {
  let folder = "";
  let cluster: z.infer<typeof Kubeconfig>["clusters"][0]["cluster"];
  let token = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-entrances-"));
    const { clusters, users } = Kubeconfig.parse(JSON.parse(await readFile(real, "utf8")));
    cluster = clusters[0].cluster;
    token = users[0].user.token;
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** As a kubeconfig with such a user and a cluster changed so names them. */
  async function enter(user: object, more: object = {}): Promise<ClusterConfig> {
    const file = join(folder, randomUUID());
    const named = { clusters: [{ name: "c", cluster: { ...cluster, ...more } }], users: [{ name: "u", user }] };
    const contexts = [{ name: "x", context: { cluster: "c", user: "u" } }];
    await writeFile(file, JSON.stringify({ "current-context": "x", contexts, ...named }));
    return readKubeconfig({ file, env: {}, homeDir: folder });
  }
  /** A plugin that prints this status. */
  async function plugin(status: object): Promise<object> {
    const file = join(folder, `plugin-${randomUUID()}`);
    const apiVersion = "client.authentication.k8s.io/v1";
    await writeFile(
      file,
      `#!/bin/sh\ncat <<'END'\n${JSON.stringify({ apiVersion, kind: "ExecCredential", status })}\nEND\n`,
    );
    await chmod(file, 0o755);
    return { exec: { apiVersion, command: file, interactiveMode: "Never" } };
  }

  test("with a token in the kubeconfig", async () => {
    expect(await whoAmI(await enter({ token }))).toBe("sluice");
  });

  test("with a client certificate, in files and in the kubeconfig", async () => {
    const files = { "client-certificate": pemFile("client.crt"), "client-key": pemFile("client.key") };
    const [cert, key] = await Promise.all([pem("client.crt"), pem("client.key")]);
    const data = { "client-certificate-data": btoa(cert), "client-key-data": btoa(key) };
    for (const user of [files, data]) expect(await whoAmI(await enter(user))).toBe("jane");
  });

  test("with a plugin that returns a token, or a client certificate", async () => {
    const [clientCertificateData, clientKeyData] = await Promise.all([pem("client.crt"), pem("client.key")]);
    expect(await whoAmI(await enter(await plugin({ token })))).toBe("sluice");
    expect(await whoAmI(await enter(await plugin({ clientCertificateData, clientKeyData })))).toBe("jane");
  });

  test("with a token file, which is read again once the server refuses the token", async () => {
    const tokenFile = join(folder, "token");
    await writeFile(tokenFile, token);
    const config = await enter({ tokenFile });
    const client = opened(apiClient(config, { clock: systemClock, env: {} }));
    expect((await review(client)).username).toBe("sluice");
    await writeFile(tokenFile, "expired");
    const late = opened(apiClient(config, { clock: systemClock, env: {} }));
    await expect(review(late)).rejects.toMatchObject({ code: 401, reason: "Unauthorized" });
    await writeFile(tokenFile, token);
    expect((await review(late)).username).toBe("sluice");
  });

  test("with the token of a service account, as a pod has it", async () => {
    const name = `entrances-${randomUUID().slice(0, 8)}`;
    const admin = await enter({ token });
    const owner = opened(connect(admin, { clock: systemClock, env: {} }));
    const api = opened(apiClient(admin, { clock: systemClock, env: {} }));
    const metadata = { name, namespace: "default" };
    await owner.create({ apiVersion: "v1", kind: "ServiceAccount", metadata }, { manager: "test" }, never);
    const ref = { group: "", version: "v1", kind: "ServiceAccount", ...metadata };
    const remove = () => owner.delete(ref, { propagation: "Background" }, never);
    onTestFinished(async () => void (await remove()));
    const path = `/api/v1/namespaces/default/serviceaccounts/${name}/token`;
    const json = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 600 } };
    const body = { type: "application/json", json };
    const { text } = await api.expect({ verb: "create", method: "POST", path, body, repeatable: true }, never);

    const mounted = join(folder, "serviceaccount");
    await mkdir(mounted);
    await writeFile(join(mounted, "token"), Token.parse(JSON.parse(text)).status.token);
    await writeFile(join(mounted, "ca.crt"), Buffer.from(cluster["certificate-authority-data"], "base64"));
    await writeFile(join(mounted, "namespace"), "default");
    const { hostname, port } = new URL(cluster.server);
    const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    const config = await inClusterConfig(env, mounted);
    if (config === undefined) throw new Error("the variables of a pod are there");
    expect(await whoAmI(config)).toBe(`system:serviceaccount:default:${name}`);

    await remove();
    // The server looks for the account at each request, and remembers for a moment that it was there.
    await expect.poll(() => whoAmI(config).catch((error: unknown) => error)).toMatchObject({ code: 401 });
  });

  test("with tokens that are issued for the requested account and audience", async () => {
    const owner = opened(connect(await enter({ token }), { clock: systemClock, env: {} }));
    const account = { name: `tokens-${randomUUID().slice(0, 8)}`, namespace: "default" };
    await owner.create({ apiVersion: "v1", kind: "ServiceAccount", metadata: account }, { manager: "test" }, never);
    const ref = { group: "", version: "v1", kind: "ServiceAccount", ...account };
    onTestFinished(async () => void (await owner.delete(ref, { propagation: "Background" }, never)));
    const issued = (await owner.accountTokens.issue(account, ["https://vault.example.com"], never)).reveal();
    expect(JSON.parse(Buffer.from(issued.split(".")[1] ?? "", "base64url").toString())).toMatchObject({
      aud: ["https://vault.example.com"],
      sub: `system:serviceaccount:default:${account.name}`,
    });
    const gone = { ...account, name: "gone" };
    await expect(owner.accountTokens.issue(gone, ["sts.amazonaws.com"], never)).rejects.toMatchObject({
      reason: "NotFound",
      message: 'serviceaccounts "gone" not found',
    });
  });

  test("as an impersonated user, with the groups of that user", async () => {
    const config = await enter({ token, as: "jane", "as-groups": ["dev", "ops"] });
    const client = opened(apiClient(config, { clock: systemClock, env: {} }));
    const { username, groups } = await review(client);
    expect([username, ...groups]).toEqual(["jane", "dev", "ops", "system:authenticated"]);
    // A user without the right to impersonate gets an error.
    const files = { "client-certificate": pemFile("client.crt"), "client-key": pemFile("client.key") };
    await expect(whoAmI(await enter({ ...files, as: "sluice" }))).rejects.toMatchObject({
      code: 403,
      reason: "Forbidden",
    });
  });

  test("with unknown credentials, which is one clear failure that does not show them", async () => {
    const error: unknown = await whoAmI(await enter({ token: "hunter2" })).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 401,
      reason: "Unauthorized",
      message: `the cluster at ${cluster.server} (x) does not take the credential of u: Unauthorized; check that it may enter there and that the clocks agree`,
    });
    // A certificate of another authority: the server asks for none of it, and treats us as anonymous.
    const files = { "client-certificate": pemFile("amazon.crt"), "client-key": pemFile("amazon.key") };
    await expect(whoAmI(await enter(files))).rejects.toMatchObject({ code: 401, reason: "Unauthorized" });
  });

  test("through an HTTP proxy, requests and watches", async () => {
    using proxy = await tunnelProxy();
    const config = await enter({ token }, { "proxy-url": `http://127.0.0.1:${proxy.port}` });
    expect(await whoAmI(config)).toBe("sluice");
    const through = opened(connect(config, { clock: systemClock, env: {} }));
    const query = { group: "", version: "v1", kind: "ConfigMap", namespace: "kube-system" };
    for await (const { type } of through.watch(query, never)) {
      expect(type).toBe("ADDED");
      break;
    }
    expect(new Set(proxy.asked.map(({ target }) => target))).toEqual(new Set([new URL(cluster.server).host]));
    expect(proxy.asked.length).toBeGreaterThan(1);
  });

  test("with only its own CA, under another name in its certificate, or unverified", async () => {
    const { "certificate-authority-data": data } = cluster;
    const none = { "certificate-authority-data": undefined };
    const file = join(folder, "ca.crt");
    await writeFile(file, Buffer.from(data, "base64"));
    expect(await whoAmI(await enter({ token }, { ...none, "certificate-authority": file }))).toBe("sluice");
    expect(await whoAmI(await enter({ token }, { "tls-server-name": "kubernetes.default.svc" }))).toBe("sluice");
    expect(await whoAmI(await enter({ token }, { ...none, "insecure-skip-tls-verify": true }))).toBe("sluice");
    for (const wrong of [
      none,
      { ...none, "certificate-authority": pemFile("server.crt") },
      { "tls-server-name": "elsewhere.test" },
    ]) {
      const error: unknown = await whoAmI(await enter({ token }, wrong)).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 0, reason: "Unreachable", message: expect.stringContaining(cluster.server) });
      expect(error).toMatchObject({ message: expect.not.stringContaining(token) });
    }
  });
});
