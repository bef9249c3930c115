import { describe, expect, test } from "vitest";
import { messageOf } from "../../../lib/core/failure.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import { KubeconfigFault } from "../../../lib/core/ports/remote-clusters.ts";
import { readStoredKubeconfig } from "../../../lib/kube/secret-kubeconfig.ts";
import { pem } from "../../doubles/pem.ts";

const canary = "tok3n-canary";
const base64 = (text: string) => Buffer.from(text).toString("base64");

const written = (cluster: JsonObject = {}, user: JsonObject = {}, root: JsonObject = {}) =>
  JSON.stringify({
    clusters: [{ name: "c", cluster: { server: "https://api.example.com:6443", ...cluster } }],
    users: [{ name: "u", user: { token: canary, ...user } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "n" } }],
    "current-context": "x",
    ...root,
  });
const read = (text: string) =>
  readStoredKubeconfig({ secret: "t/remote", key: "value", id: "uid value", version: "1", bytes: Buffer.from(text) });

describe("a kubeconfig of a Secret", () => {
  test("has its server, CA, names, proxy and credentials inline", async () => {
    const [ca, cert, key] = await Promise.all([pem("server.crt"), pem("client.crt"), pem("client.key")]);
    const text = written(
      {
        "certificate-authority-data": base64(ca),
        "tls-server-name": "api.internal",
        "proxy-url": "socks5://user:pass@proxy.example.com:1080",
      },
      { "client-certificate-data": base64(cert), "client-key-data": base64(key) },
    );
    const { config, leftOut } = await read(text);
    expect(config).toMatchObject({
      server: new URL("https://api.example.com:6443"),
      tls: { ca, serverName: "api.internal", insecure: false },
      proxy: new URL("socks5://user:pass@proxy.example.com:1080"),
      user: { certificate: { cert }, token: { kind: "token" }, impersonate: undefined },
    });
    expect(leftOut).toEqual([]);
    expect(JSON.stringify(config)).not.toContain(canary);
    const { config: basic } = await read(
      written({ server: "api.example.com" }, { token: "", username: "a", password: "b" }),
    );
    expect(basic).toMatchObject({ server: new URL("https://api.example.com"), user: { token: { kind: "basic" } } });
  });

  test("is never insecure and never impersonates a user, and an exec plugin next to credentials is ignored", async () => {
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "touch", args: ["/tmp/never"] };
    const text = written(
      { "insecure-skip-tls-verify": true },
      { exec, as: "system:admin", "auth-provider": { name: "gcp" } },
    );
    const { config, leftOut } = await read(text);
    expect(config.tls.insecure).toBe(false);
    expect(config.user).toMatchObject({ token: { kind: "token" }, impersonate: undefined });
    expect(leftOut).toEqual([
      "users[u].user.exec",
      "users[u].user.auth-provider",
      "users[u].user.as",
      "clusters[c].cluster.insecure-skip-tls-verify",
    ]);
  });

  test.each([
    [
      "a program to run",
      written({}, { token: "", exec: { command: "aws" } }),
      "users[u].user.exec is not allowed: no program is run",
    ],
    [
      "an auth provider",
      written({}, { token: "", "auth-provider": { name: "oidc" } }),
      "users[u].user.auth-provider is not allowed",
    ],
    [
      "a file with a token",
      written({}, { tokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token" }),
      "users[u].user.tokenFile names a file",
    ],
    [
      "a file with a certificate",
      written({}, { "client-certificate": "/etc/passwd" }),
      "users[u].user.client-certificate names a file",
    ],
    [
      "a file with a key",
      written({}, { "client-certificate-data": "eA==", "client-key": "../key" }),
      "users[u].user.client-key names a file",
    ],
    [
      "a file with an authority",
      written({ "certificate-authority": "ca.crt" }),
      "clusters[c].cluster.certificate-authority names a file",
    ],
    [
      "an invalid CA",
      written({ "certificate-authority-data": base64(canary) }),
      "clusters[c].cluster.certificate-authority-data holds no certificate in PEM",
    ],
    [
      "data that is not base64",
      written({ "certificate-authority-data": "%%%" }),
      "clusters[c].cluster.certificate-authority-data is not base64",
    ],
    [
      "a server without TLS",
      written({ server: "http://api.example.com" }),
      "clusters[c].cluster.server must begin with https://",
    ],
    [
      "a server without TLS behind a proxy",
      written({ server: "http://127.0.0.1", "proxy-url": "http://p" }),
      "clusters[c].cluster.server must begin with https://",
    ],
    [
      "a login in the server",
      written({ server: `https://${canary}@api.example.com` }),
      "clusters[c].cluster.server must hold no user name",
    ],
    ["another scheme", written({ server: "unix:///run/sock" }), "clusters[c].cluster.server must be an address"],
    [
      "a proxy of another kind",
      written({ "proxy-url": "ftp://proxy" }),
      "clusters[c].cluster.proxy-url must be an address",
    ],
    [
      "a token that no header can hold",
      written({}, { token: `${canary}\nx` }),
      "users[u].user.token must be printable ASCII",
    ],
    [
      "a certificate without a key",
      written({}, { "client-certificate-data": "eA==" }),
      "invalid configuration: client-key-data or client-key must be specified for u",
    ],
    [
      "two credentials",
      written({}, { username: "a" }),
      "invalid configuration: more than one authentication method found for u; found [token basicAuth], only one is allowed",
    ],
    [
      "no server",
      written({ server: "", "tls-server-name": "a" }),
      'invalid configuration: no server found for cluster "c"',
    ],
    [
      "an empty cluster",
      written({ server: "" }),
      "invalid configuration: no configuration has been provided, try setting",
    ],
    [
      "another version",
      written({}, {}, { apiVersion: "v2" }),
      'no kind "Config" is registered for version "v2" in scheme "pkg/runtime/scheme.go:111"',
    ],
    [
      "another kind",
      written({}, {}, { kind: "Secret" }),
      'no kind "Secret" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
    ],
    ["a missing user", written({}, {}, { users: [] }), 'auth info "u" does not exist'],
    [
      "a missing cluster",
      written({}, {}, { clusters: [] }),
      "invalid configuration: no configuration has been provided, try setting",
    ],
    [
      "no context",
      written({}, {}, { "current-context": "" }),
      "invalid configuration: no configuration has been provided, try setting",
    ],
    [
      "a list",
      `[${canary}]`,
      "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct",
    ],
    ["a number", "7", "json: cannot unmarshal number into Go value"],
    ["no content", " \n", "invalid configuration: no configuration has been provided, try setting"],
    [
      "a missing context",
      written({}, {}, { "current-context": "nope" }),
      "invalid configuration: [context was not found for specified context: nope, cluster has no server defined]",
    ],
    ["an unknown alias", `a: *${canary}`, "yaml: line 1: not YAML. Store a kubeconfig"],
    ["fields of another type", written({ server: { a: canary } }), "clusters[c].cluster.server must be a text"],
  ])("with %s is refused without quoting it", async (_, text, said) => {
    const error: unknown = await read(text).catch((fault: unknown) => fault);
    expect(error).toBeInstanceOf(KubeconfigFault);
    expect(messageOf(error)).toContain(said);
    // Flux's client has no words that begin otherwise. The Secret is named once, also where the fault names its field.
    const ofFlux = /^(invalid configuration: |couldn't get version\/kind; |no kind "|auth info )/;
    const named = messageOf(error).split("kubeconfig of secret 't/remote', key 'value': ");
    expect(named).toHaveLength(ofFlux.test(messageOf(error)) ? 1 : 2);
    expect(messageOf(error)).not.toContain(canary);
  });

  test("with the key of another certificate is refused", async () => {
    const [cert, key] = await Promise.all([pem("client.crt"), pem("server.key")]);
    const text = written({}, { "client-certificate-data": base64(cert), "client-key-data": base64(key) });
    await expect(read(text)).rejects.toThrow("users[u].user.client-key-data is not the key of client-certificate-data");
  });
});

test("200,000 characters that are almost base64 are refused at once", async () => {
  const almost = `${" ".repeat(100_000)}${"A".repeat(40_000)}${"=".repeat(60_000)}!`;
  for (const key of ["certificate-authority-data", "client-certificate-data", "client-key-data"]) {
    const text = key.startsWith("client") ? written({}, { [key]: almost }) : written({ [key]: almost });
    expect(await read(text).catch(messageOf)).toContain(`${key} is not base64`);
  }
});

test("a CA with a broken second certificate makes the kubeconfig invalid", async () => {
  const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  for (const [ca, reason] of [
    [`${await pem("server.crt")}${broken}`, "holds a certificate that cannot be read"],
    ["none", "holds no certificate in PEM"],
  ] as const) {
    const fault = await read(written({ "certificate-authority-data": base64(ca) })).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(KubeconfigFault);
    expect(messageOf(fault)).toContain(reason);
  }
});
