import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClusterConfig } from "../../../lib/kube/cluster-config.ts";
import { inClusterConfig } from "../../../lib/kube/in-cluster.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { pem, pemFile } from "../../doubles/pem.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-kubeconfig-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function write(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, text);
  return path;
}

function kubeconfig({
  cluster = "server: https://127.0.0.1:6443",
  user = "token: secret-token",
  current = "dev",
}): string {
  return `apiVersion: v1
kind: Config
current-context: "${current}"
clusters: [{name: c, cluster: {${cluster}}}]
contexts: [{name: dev, context: {cluster: c, user: u, namespace: apps}}]
users: [{name: u, user: {${user}}}]
`;
}

async function read(text: string, context?: string): Promise<ClusterConfig> {
  const file = await write("config", text);
  return await readKubeconfig({ file, env: {}, homeDir: folder, ...(context === undefined ? {} : { context }) });
}

describe("a kubeconfig", () => {
  test("has the cluster, the namespace and the user of its current context", async () => {
    const config = await read(kubeconfig({}));
    expect(config).toMatchObject({
      name: "dev",
      namespace: "apps",
      tls: { insecure: false },
      proxy: undefined,
      user: { name: "u", token: { kind: "token" }, certificate: undefined },
    });
    expect(config.server.href).toBe("https://127.0.0.1:6443/");
    expect(config.user.token?.kind === "token" && config.user.token.token.reveal()).toBe("secret-token");
  });

  test("prints none of its secrets", async () => {
    const config = await read(kubeconfig({ user: "username: jane, password: hunter2" }));
    expect(JSON.stringify(config)).not.toContain("hunter2");
  });

  test.each([
    { name: "of a proxy", cluster: "server: https://a, proxy-url: socks5://jane:hunter2@p:1" },
    { name: "of an address without its beginning", cluster: "server: jane:hunter2@p" },
    { name: "in the path of an address", cluster: "server: ftp://p/access/hunter2" },
  ])("is refused without repeating the secret $name", async ({ cluster }) => {
    await expect(read(kubeconfig({ cluster }))).rejects.toThrow(/must be an address/);
    await expect(read(kubeconfig({ cluster }))).rejects.not.toThrow(/hunter2/);
  });

  test("may be JSON", async () => {
    const text = JSON.stringify({
      "current-context": "a",
      clusters: [{ name: "c", cluster: { server: "http://localhost:1" } }],
      contexts: [{ name: "a", context: { cluster: "c" } }],
    });
    expect(await read(text)).toMatchObject({ name: "a", user: { token: undefined, certificate: undefined } });
  });

  describe("by the name of its cluster", () => {
    const arn = (name: string, region = "eu-west-1") => `arn:aws:eks:${region}:123456789012:cluster/${name}`;
    const clusters = [arn("prod"), arn("test"), arn("test", "us-east-1"), "home", "demo.eu-west-1.eksctl.io", "bare"];
    // Whose names begin or end alike.
    const neighbours = [arn("pre-prod"), arn("prod-2"), "demo-2.eu-west-1.eksctl.io", "a-demo.eu-west-1.eksctl.io"];
    clusters.push(...neighbours);
    const contexts = [
      ["prod-alias", arn("prod")],
      ["test-eu", arn("test")],
      ["test-us", arn("test", "us-east-1")],
      ["home-a", "home"],
      ["home-b", "home"],
      ["demo", "demo.eu-west-1.eksctl.io"],
      ...neighbours.map((name) => [`of ${name}`, name]),
    ];
    const text = (current = "") =>
      JSON.stringify({
        "current-context": current,
        clusters: clusters.map((name, index) => ({ name, cluster: { server: `https://host-${index}` } })),
        contexts: contexts.map(([name, cluster]) => ({ name, context: { cluster } })),
      });
    const find = async (cluster: string, current?: string) => {
      const file = await write("clusters", text(current));
      return readKubeconfig({ file, env: {}, homeDir: folder, cluster });
    };

    test.each([
      ["its ARN", arn("test", "us-east-1"), "test-us"],
      ["the name in its ARN", "prod", "prod-alias"],
      ["the name that eksctl gave it", "demo", "demo"],
    ])("uses the context of the cluster with %s", async (_, cluster, context) => {
      expect(await find(cluster)).toMatchObject({ name: context });
      expect(await find(cluster, "home-a")).toMatchObject({ name: context });
    });

    test("uses the current context if that is one of several for the cluster", async () => {
      expect(await find("home", "home-b")).toMatchObject({ name: "home-b" });
    });

    test.each([
      ["nowhere", `has no cluster nowhere: it has ${clusters.join(", ")}`],
      ["test", `has several clusters test: give one of ${arn("test")}, ${arn("test", "us-east-1")}`],
      ["home", "has 2 contexts of cluster home: choose one of home-a, home-b with --context"],
      ["bare", "has 0 contexts of cluster bare: add one"],
      [arn("prod", "us-east-1"), `has no cluster ${arn("prod", "us-east-1")}`],
      [".*", "has no cluster .*"],
      ["eu-west-1", "has no cluster eu-west-1"],
    ])("is refused, and never guessed, for %s", async (cluster, words) => {
      await expect(find(cluster)).rejects.toThrow(words);
    });
  });

  test("uses another context on request", async () => {
    const text = kubeconfig({}).replace("contexts: [", "contexts: [{name: prod, context: {cluster: c, user: u}}, ");
    expect((await read(text, "prod")).namespace).toBeUndefined();
  });

  test("resolves file names relative to its folder", async () => {
    const ca = await pem("server.crt");
    await write("nested/ca.crt", ca);
    const cluster = "server: https://a, certificate-authority: ca.crt, tls-server-name: api.sluice.test";
    const file = await write("nested/config", kubeconfig({ cluster, user: "tokenFile: token" }));
    expect(await readKubeconfig({ file, env: {}, homeDir: folder })).toMatchObject({
      tls: { ca, serverName: "api.sluice.test" },
      user: { token: { kind: "file", path: join(folder, "nested/token") } },
    });
  });

  test("may contain certificates as data, which take precedence over files", async () => {
    const cert = await pem("client.crt");
    const data = (text: string) => Buffer.from(text).toString("base64");
    const user = `client-certificate: none.crt, client-certificate-data: ${data(cert)}, client-key-data: ${data("key")}`;
    const { certificate } = (await read(kubeconfig({ user }))).user;
    expect(certificate?.cert).toBe(cert);
    expect(certificate?.key.reveal()).toBe("key");
  });

  test("may have a proxy, impersonation and no verification", async () => {
    const cluster = "server: https://a, insecure-skip-tls-verify: true, proxy-url: http://proxy:3128";
    const config = await read(kubeconfig({ cluster, user: "token: t, as: jane, as-groups: [dev, ops]" }));
    expect(config.tls.insecure).toBe(true);
    expect(config.proxy?.host).toBe("proxy:3128");
    expect(config.user.impersonate).toEqual({ user: "jane", groups: ["dev", "ops"] });
  });

  test("may have a credential plugin with its environment, which gets the cluster if it asks for it", async () => {
    const exec =
      "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/login, args: [a, b], env: [{name: X, value: y}], provideClusterInfo: true}";
    const cluster =
      "server: https://127.0.0.1:6443, tls-server-name: api.test, certificate-authority-data: UEVN, insecure-skip-tls-verify: true, proxy-url: http://proxy:3128";
    const { token } = (await read(kubeconfig({ cluster, user: exec }))).user;
    expect(token).toMatchObject({
      kind: "exec",
      plugin: {
        command: join(folder, "bin/login"),
        args: ["a", "b"],
        env: { X: "y" },
        cluster: {
          server: "https://127.0.0.1:6443",
          "tls-server-name": "api.test",
          "certificate-authority-data": "UEVN",
          "insecure-skip-tls-verify": true,
          "proxy-url": "http://proxy:3128",
        },
      },
    });
  });
});

describe("several kubeconfigs in KUBECONFIG", () => {
  test("are merged: the first value and the first entry of a name win, missing files are skipped", async () => {
    const first = await write(
      "first",
      "current-context: two\nclusters: [{name: c, cluster: {server: https://first}}]\nusers: [{name: u, user: {token: one}}]",
    );
    const second = await write(
      "second",
      "current-context: x\nclusters: [{name: c, cluster: {server: https://second}}]\ncontexts: [{name: two, context: {cluster: c, user: u}}]",
    );
    const env = { KUBECONFIG: [join(folder, "missing"), first, second].join(delimiter) };
    const config = await readKubeconfig({ env, homeDir: folder });
    expect(config.name).toBe("two");
    expect(config.server.host).toBe("first");
  });

  test("that share a context name use the context that wins, never another file's of that name", async () => {
    const files = ["a", "b"].map((name) => {
      const server = { name, cluster: { server: `https://${name}` } };
      return write(
        name,
        JSON.stringify({ clusters: [server], contexts: [{ name: "dev", context: { cluster: name } }] }),
      );
    });
    const KUBECONFIG = (await Promise.all(files)).join(delimiter);
    const find = (cluster: string, more = "") =>
      readKubeconfig({ env: { KUBECONFIG: `${KUBECONFIG}${more}` }, homeDir: folder, cluster });
    expect((await find("a")).server.host).toBe("a");
    await expect(find("b")).rejects.toThrow("has 0 contexts of cluster b: add one");
    const third = await write("third", "contexts: [{name: to-b, context: {cluster: b}}]");
    expect((await find("b", `${delimiter}${third}`)).server.host).toBe("b");
  });

  test("are ignored if the command line names a file", async () => {
    const named = await write("named", kubeconfig({ cluster: "server: https://named" }));
    const other = await write("other", kubeconfig({ cluster: "server: https://other" }));
    const config = await readKubeconfig({ file: named, env: { KUBECONFIG: other }, homeDir: folder });
    expect(config.server.host).toBe("named");
  });

  test("are replaced by ~/.kube/config if there are none", async () => {
    await write(".kube/config", kubeconfig({ cluster: "server: https://home" }));
    expect((await readKubeconfig({ env: { KUBECONFIG: "" }, homeDir: folder })).server.host).toBe("home");
  });
});

describe("a pod without a kubeconfig", () => {
  test("uses its own cluster with its service account", async () => {
    await write("sa/ca.crt", "PEM");
    await write("sa/namespace", "apps\n");
    const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
    const config = await inClusterConfig(env, join(folder, "sa"));
    expect(config).toMatchObject({ name: "in-cluster", namespace: "apps", tls: { ca: "PEM" } });
    expect(config?.server.host).toBe("[fd00::1]");
    expect(config?.user.token).toEqual({ kind: "file", path: join(folder, "sa/token") });
  });

  test("whose service account is not mounted fails with that reason", async () => {
    const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
    await expect(inClusterConfig(env, join(folder, "nowhere"))).rejects.toThrow(
      /^no kubeconfig, and the pod's service account cannot be read: ENOENT.*; mount a service account token/,
    );
  });

  test("is not in the cluster that --cluster names", async () => {
    const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
    await expect(readKubeconfig({ env, homeDir: join(folder, "no-home"), cluster: "prod" })).rejects.toThrow(
      /^no kubeconfig at .*no-home.*: give --kubeconfig FILE or set KUBECONFIG$/,
    );
  });

  test("outside of a cluster has no kubeconfig", () => {
    expect(inClusterConfig({})).toBeUndefined();
  });
});

describe("a kubeconfig that cannot be used", () => {
  test("because it is missing gives an error that says where it was looked for and how to name one", async () => {
    const file = join(folder, "nowhere");
    await expect(readKubeconfig({ file, env: {}, homeDir: folder })).rejects.toThrow(
      `no kubeconfig at ${file}: give --kubeconfig FILE or set KUBECONFIG`,
    );
  });

  const expiredJwt = `e30.${Buffer.from('{"exp":1600000000}').toString("base64url")}.x`;
  test.each([
    ["is not YAML", "a: [", "is not YAML"],
    ["is not a mapping", "- a", "it must hold a mapping"],
    ["has no current context", kubeconfig({ current: "" }), "has no current-context: give --context NAME"],
    ["names a context that it lacks", kubeconfig({ current: "prod" }), "has no context prod: it has dev"],
    ["names a cluster that it lacks", kubeconfig({}).replace("name: c,", "name: d,"), "has no cluster c: it has d"],
    ["has no server", kubeconfig({ cluster: "" }), "clusters[c].cluster.server is required"],
    [
      "has an invalid server address",
      kubeconfig({ cluster: "server: localhost" }),
      'clusters[c].cluster.server is "localhost": it must be an address',
    ],
    ["has a proxy of another kind", kubeconfig({ cluster: "server: https://a, proxy-url: socks5://p:1" }), "proxy-url"],
    ["has a field of the wrong type", kubeconfig({ user: "token: 1" }), "users[u].user.token must be a text"],
    [
      "names a file that does not exist",
      kubeconfig({ user: "client-certificate: none.crt, client-key: k" }),
      "users[u].user.client-certificate names",
    ],
    [
      "has a key without a certificate",
      kubeconfig({ user: "client-key-data: a2V5" }),
      "client-certificate is required beside client-key",
    ],
    [
      "holds something that is not a certificate",
      kubeconfig({ user: "client-certificate-data: eA==, client-key-data: eA==" }),
      "is not a certificate",
    ],
    [
      "holds a token that has expired",
      kubeconfig({ user: `token: ${expiredJwt}` }),
      "users[u].user.token has expired at 2020-09-13T12:26:40.000Z: renew it",
    ],
    ["uses a login that Kubernetes dropped", kubeconfig({ user: "auth-provider: {name: gcp}" }), "use an exec plugin"],
    [
      "uses an interactive plugin",
      kubeconfig({ user: "exec: {apiVersion: v1, command: a, interactiveMode: Always}" }),
      "interactiveMode is Always",
    ],
  ])("because it %s gives an error that names the field", async (_, text, message) => {
    await expect(read(text)).rejects.toThrow(message);
    await expect(read(text)).rejects.toThrow(join(folder, "config"));
  });

  test("because its certificate has expired gives an error with the time", async () => {
    const user = `client-certificate: ${pemFile("expired.crt")}, client-key: ${pemFile("expired.key")}`;
    await expect(read(kubeconfig({ user }))).rejects.toThrow(
      "users[u].user.client-certificate has expired at 2021-01-01T00:00:00.000Z: renew it and write the kubeconfig again",
    );
  });
});
