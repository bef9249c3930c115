import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJsonObject } from "../../../lib/core/json.ts";
import { knownHostKeys } from "../../../lib/sources/git/known-hosts.ts";
import { parseSshKey } from "../../../lib/sources/git/ssh-key.ts";
import { fileCluster } from "../../doubles/file-cluster.ts";
import { runCommand } from "../../doubles/run-command.ts";
import { smallDefinition } from "../../doubles/small-definition.ts";
import { newSshKey, sshServer } from "../../doubles/ssh-server.ts";

const { signal } = new AbortController();
const embedded = fileCluster({ definitions: false, controllers: false });
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-create-"));
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "apps" } };
  await embedded.cluster.create(namespace, { manager: "test" }, signal);
  const group = "source.toolkit.fluxcd.io";
  for (const [kind, plural] of [
    ["GitRepository", "gitrepositories"],
    ["HelmRepository", "helmrepositories"],
  ] as const) {
    await embedded.cluster.create(smallDefinition(group, kind, plural, ["v1"]), { manager: "test" }, signal);
  }
});
afterAll(() => rm(folder, { recursive: true }));

function sluice(args: readonly string[], confirm?: (question: string) => Promise<boolean>) {
  return runCommand(["-n", "apps", "--kubeconfig", embedded.kubeconfig, ...args], { env: {}, folder, confirm });
}

async function secret(name: string): Promise<Readonly<Record<string, string>>> {
  const found = await embedded.cluster.get(
    { group: "", version: "v1", kind: "Secret", namespace: "apps", name },
    signal,
  );
  const data = isJsonObject(found?.["data"]) ? found["data"] : {};
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      Buffer.from(typeof value === "string" ? value : "", "base64").toString(),
    ]),
  );
}

const repositoryRef = (name: string, kind = "GitRepository") => ({
  group: "source.toolkit.fluxcd.io",
  version: "v1",
  kind,
  namespace: "apps",
  name,
});

/** Plays the run of a new GitRepository that fails, and is tried again. */
async function failed(name: string, message: string): Promise<void> {
  await expect.poll(async () => embedded.cluster.get(repositoryRef(name), signal)).toBeDefined();
  const said = { observedGeneration: 1, lastTransitionTime: "2026-11-23T12:00:00Z", message };
  const conditions = [
    { type: "Reconciling", status: "True", reason: "ProgressingWithRetry", ...said },
    { type: "Ready", status: "False", reason: "GitOperationFailed", ...said },
  ];
  const body = { status: { observedGeneration: -1, conditions } };
  await embedded.cluster.patch(
    repositoryRef(name),
    { type: "merge", body },
    { manager: "test", subresource: "status" },
    signal,
  );
}

/** Plays the reconcile of a source: says that its present generation has an artifact. */
async function reconciled(name: string, revision: string, kind = "GitRepository"): Promise<void> {
  const generation = await expect
    .poll(async () => (await embedded.cluster.get(repositoryRef(name, kind), signal))?.metadata.generation)
    .toBeDefined()
    .then(async () => (await embedded.cluster.get(repositoryRef(name, kind), signal))?.metadata.generation ?? 0);
  const ready = {
    type: "Ready",
    status: "True",
    reason: "Succeeded",
    message: "stored",
    observedGeneration: generation,
  };
  const status = {
    observedGeneration: generation,
    conditions: [{ ...ready, lastTransitionTime: "2026-11-23T12:00:00Z" }],
    artifact: { revision },
  };
  const options = { manager: "test", subresource: "status" };
  await embedded.cluster.patch(repositoryRef(name, kind), { type: "merge", body: { status } }, options, signal);
}

async function withHost<T>(use: (url: string, knownHosts: string) => Promise<T>): Promise<T> {
  await using server = await sshServer({ hostKey: await newSshKey(), user: { name: "git", key: await newSshKey() } });
  return await use(`ssh://git@127.0.0.1:${server.port}/team/app.git`, server.knownHosts);
}

describe("sluice create secret git", () => {
  test.each([
    { options: [], type: "ecdsa-sha2-nistp384" },
    { options: ["--ssh-ecdsa-curve", "p521"], type: "ecdsa-sha2-nistp521" },
    { options: ["--ssh-key-algorithm", "ed25519"], type: "ssh-ed25519" },
    { options: ["--ssh-key-algorithm", "rsa", "--ssh-rsa-bits", "2048"], type: "ssh-rsa" },
  ])("with $options creates a deploy key of type $type, and fetches the host's key", async ({ options, type }) => {
    await withHost(async (url, knownHosts) => {
      const { code, err } = await sluice(["create", "secret", "git", "deploy", "--url", url, ...options]);
      const data = await secret("deploy");
      expect([code, err]).toEqual([
        0,
        `✔ collected public key from SSH server:\n${knownHosts}✚ deploy key: ${data["identity.pub"] ?? ""}► git secret 'deploy' created in 'apps' namespace\n`,
      ]);
      expect(Object.keys(data).toSorted()).toEqual(["identity", "identity.pub", "known_hosts"]);
      const key = await parseSshKey(data["identity"] ?? "", "");
      expect(key.type).toBe(type);
      expect(data["identity.pub"]?.split(" ").slice(0, 2).join(" ").trim()).toBe(
        `${type} ${key.getPublicSSH().toString("base64")}`,
      );
      const host = { host: "127.0.0.1", port: Number(new URL(url).port) };
      expect(data["known_hosts"], "as flux writes it: without a line break at the end").toBe(knownHosts.trimEnd());
      expect(knownHostKeys(data["known_hosts"] ?? "", host).types).toEqual(["ecdsa-sha2-nistp256"]);
      expect(err).not.toContain("PRIVATE");
    });
  });

  test("reads a key from a file, encrypted or not", async () => {
    const fixtures = join(import.meta.dirname, "../../fixtures/ssh");
    await withHost(async (url) => {
      const plain = ["create", "secret", "git", "given", "--url", url, "--private-key-file", join(fixtures, "plain")];
      expect((await sluice(plain)).code).toBe(0);
      const { identity, ...data } = await secret("given");
      expect(identity).toBe(await readFile(join(fixtures, "plain"), "utf8"));
      expect(data["identity.pub"]).toMatch(/^ssh-ed25519 /);
      const encrypted = [...plain.slice(0, -1), join(fixtures, "encrypted")];
      const { code, err } = await sluice(encrypted);
      expect([code, err]).toEqual([1, expect.stringContaining("give its passphrase with --password")]);
    });
  });

  test("stores credentials for HTTPS, and prints the Secret as YAML with --export", async () => {
    const ca = join(folder, "ca.pem");
    await writeFile(ca, "-----BEGIN CERTIFICATE-----\n");
    const login = ["-u", "git", "-p", "hunter2", "--ca-crt-file", ca];
    const args = ["create", "secret", "git", "basic", "--url", "https://git.example.com/a.git", ...login];
    expect(await sluice(args)).toEqual({
      code: 0,
      out: "",
      err: "► git secret 'basic' created in 'apps' namespace\n",
    });
    expect(await secret("basic")).toEqual({
      username: "git",
      password: "hunter2",
      "ca.crt": "-----BEGIN CERTIFICATE-----\n",
    });
    const { out } = await sluice([
      ...["create", "secret", "git", "token", "--url", "https://git.example.com/a.git"],
      ...["--bearer-token", "t0ken", "--label", "team=a", "--export"],
    ]);
    expect(out).toMatch(/^---\n/);
    expect(load(out)).toEqual({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "token", namespace: "apps", labels: { team: "a" } },
      stringData: { bearerToken: "t0ken" },
    });
    expect(await secret("token")).toEqual({});
  });

  test.each([
    { args: [], says: "url is required" },
    { args: ["--url", "ftp://x/y"], says: "git URL scheme 'ftp' not supported, can be: ssh, http and https" },
    { args: ["--url", "git@host:x/y"], says: "is not a URL: write it like https://host/path or ssh://git@host/path" },
    { args: ["--url", "https://x/y"], says: "the username and password, or a bearer token is required" },
    { args: ["--url", "https://x/y", "-u", "a"], says: "the username and password, or a bearer token is required" },
    { args: ["--url", "https://x/y", "-u", "a", "--bearer-token", "b"], says: "cannot be used together" },
    { args: ["--url", "https://x/y", "--bearer-token", "b", "--label", "x"], says: "invalid label format 'x'" },
    { args: ["--url", "ssh://x/y", "--ca-crt-file", "z"], says: "a CA file is not supported for Git over SSH" },
    {
      args: ["--url", "ssh://x/y", "--ssh-key-algorithm", "rsa", "--ssh-rsa-bits", "1024"],
      says: "--ssh-rsa-bits must be a multiple of 8 from 2048 to 8192, not 1024",
    },
    {
      args: ["--url", "ssh://x/y", "--ssh-key-algorithm", "rsa", "--ssh-rsa-bits", "2050"],
      says: "--ssh-rsa-bits must be a multiple of 8 from 2048 to 8192, not 2050",
    },
    { args: ["--url", "ssh://127.0.0.1:1/y"], says: "the key of the SSH server 127.0.0.1:1 could not be collected" },
  ])("refuses $args", async ({ args, says }) => {
    const { code, err } = await sluice(["create", "secret", "git", "refused", ...args]);
    expect([code, err]).toEqual([1, expect.stringContaining(says)]);
    expect(await secret("refused")).toEqual({});
  });

  test.each(["a", "A-b", "-ab", "a_b"])("refuses the name %j", async (name) => {
    const { code, err } = await sluice(["create", "secret", "git", "--url", "https://x/y", "--", name]);
    expect([code, err]).toEqual([1, expect.stringContaining(`name '${name}' is invalid, it should adhere`)]);
  });
});

describe("sluice create source git", () => {
  test("creates key, Secret and GitRepository, asks the user to add the deploy key, and waits for the first artifact", async () => {
    await withHost(async (url) => {
      const asked: string[] = [];
      const command = sluice(["create", "source", "git", "web", "--url", url, "--branch", "main"], async (question) => {
        asked.push(question);
        return true;
      });
      await reconciled("web", "main@sha1:1");
      const { code, err } = await command;
      expect(code).toBe(0);
      expect(asked).toEqual(["Have you added the deploy key to your repository"]);
      expect(err.split("\n").filter((line) => /^[►◎✔✚]/u.test(line) && !line.includes("key"))).toEqual([
        "✚ generating GitRepository source",
        "► applying secret with repository credentials",
        "✔ authentication configured",
        "► applying GitRepository source",
        "✔ GitRepository source created",
        "◎ waiting for GitRepository source reconciliation",
        "✔ GitRepository source reconciliation completed",
        "✔ fetched revision: main@sha1:1",
      ]);
      expect((await embedded.cluster.get(repositoryRef("web"), signal))?.["spec"]).toEqual({
        url,
        interval: "1m0s",
        ref: { branch: "main" },
        secretRef: { name: "web" },
      });
      expect(Object.keys(await secret("web"))).toContain("identity");
    });
  });

  test("overwrites the spec of an existing object", async () => {
    const of = (...args: string[]) => ["create", "source", "git", "again", "--url", "https://x/y", ...args];
    const first = sluice(of("--tag", "v1", "--ignore-paths", "a,b", "--label", "team=a", "--label", "stage=x"));
    await reconciled("again", "v1@sha1:1");
    expect((await first).code).toBe(0);
    // With a Secret of the user's own no other is made.
    const own = ["--secret-ref", "mine", "-u", "eve", "-p", "x"];
    const second = sluice(of("--branch", "main", "--interval", "90s", ...own, "--label", "team=b"));
    await expect
      .poll(async () => (await embedded.cluster.get(repositoryRef("again"), signal))?.["spec"])
      .toEqual({ url: "https://x/y", interval: "1m30s", ref: { branch: "main" }, secretRef: { name: "mine" } });
    await reconciled("again", "main@sha1:2");
    expect((await second).err).toContain("✔ GitRepository source updated");
    expect((await embedded.cluster.get(repositoryRef("again"), signal))?.metadata.labels).toEqual({ team: "b" });
  });

  test("ends with the reason as soon as the first run has failed", async () => {
    const command = sluice(["create", "source", "git", "wrong", "--url", "https://x/y", "--branch", "mian"]);
    const message = `couldn't find remote ref "refs/heads/mian"`;
    await failed("wrong", message);
    const { code, err } = await command;
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(`✗ GitRepository source reconciliation failed: '${message}'`),
    ]);
  });

  test("without a terminal needs --silent for a new key, and otherwise creates nothing", async () => {
    await withHost(async (url) => {
      const args = ["create", "source", "git", "quiet", "--url", url, "--branch", "main"];
      expect((await sluice(args)).err).toContain("✗ aborting: without a terminal no one can say");
      expect((await sluice(args, async () => false)).err).toContain("✗ aborting\n");
      expect([await secret("quiet"), await embedded.cluster.get(repositoryRef("quiet"), signal)]).toEqual([
        {},
        undefined,
      ]);
    });
  });

  test("prints the object with --export, including every option", async () => {
    const { out, code } = await sluice([
      ...["create", "source", "git", "shown", "--url", "ssh://git@host/x", "--commit", "1", "--branch", "main"],
      ...["--secret-ref", "s", "--proxy-secret-ref", "p", "--provider", "github", "--recurse-submodules"],
      ...["--ignore-paths", "a,b", "--sparse-checkout-paths", "c,d", "--fetch-timeout", "2m", "--export"],
    ]);
    expect(code).toBe(0);
    expect(load(out)).toEqual({
      apiVersion: "source.toolkit.fluxcd.io/v1",
      kind: "GitRepository",
      metadata: { name: "shown", namespace: "apps" },
      spec: {
        url: "ssh://git@host/x",
        interval: "1m0s",
        timeout: "2m0s",
        ref: { commit: "1", branch: "main" },
        secretRef: { name: "s" },
        proxySecretRef: { name: "p" },
        provider: "github",
        recurseSubmodules: true,
        ignore: "a\nb",
        sparseCheckout: ["c", "d"],
      },
    });
  });

  test("needs a ref, and warns about credentials over plain HTTP", async () => {
    const args = ["create", "source", "git", "plain", "--url", "http://x/y"];
    expect((await sluice(args)).err).toContain(
      "✗ a Git ref is required, use one of the following: --branch, --tag, --commit, --ref-name or --tag-semver",
    );
    const command = sluice([...args, "--ref-name", "refs/heads/x", "-u", "a", "-p", "b"]);
    await reconciled("plain", "refs/heads/x@sha1:1");
    expect((await command).err).toContain("insecure configuration: credentials configured for an HTTP URL");
  });
});

test("a new key has the same format as one of ssh-keygen", async () => {
  await withHost(async (url) => {
    await sluice(["create", "secret", "git", "checked", "--url", url, "--ssh-key-algorithm", "ed25519"]);
    const { identity = "" } = await secret("checked");
    expect(identity).toMatch(/^-----BEGIN OPENSSH PRIVATE KEY-----\n[^]*\n-----END OPENSSH PRIVATE KEY-----\n$/);
  });
});

describe("sluice create source helm", () => {
  const helm = (...args: string[]) => sluice(["create", "source", "helm", ...args]);

  test("creates Secret and HelmRepository, and waits for the first index", async () => {
    const login = ["-u", "ann", "-p", "s3cret", "--pass-credentials"];
    const command = helm("charts", "--url", "https://charts.example.test/stable", ...login);
    await reconciled("charts", "sha256:1", "HelmRepository");
    const { code, err } = await command;
    expect(code).toBe(0);
    expect(err.split("\n").filter((line) => /^[►◎✔✚]/u.test(line))).toEqual([
      "✚ generating HelmRepository source",
      "► applying secret with repository credentials",
      "✔ authentication configured",
      "► applying HelmRepository source",
      "✔ source created",
      "◎ waiting for HelmRepository source reconciliation",
      "✔ HelmRepository source reconciliation completed",
      "✔ fetched revision: sha256:1",
    ]);
    expect((await embedded.cluster.get(repositoryRef("charts", "HelmRepository"), signal))?.["spec"]).toEqual({
      url: "https://charts.example.test/stable",
      interval: "1m0s",
      secretRef: { name: "helm-charts" },
      passCredentials: true,
    });
    expect(await secret("helm-charts")).toEqual({ username: "ann", password: "s3cret" });
  });

  test("does not wait for a registry, which has no status", async () => {
    const { code, err } = await helm(
      "registry",
      "--url",
      "oci://registry.example.test/charts",
      "--oci-provider",
      "aws",
    );
    expect([code, err.includes("✔ HelmRepository source reconciliation completed")]).toEqual([0, true]);
    expect((await embedded.cluster.get(repositoryRef("registry", "HelmRepository"), signal))?.["spec"]).toEqual({
      url: "oci://registry.example.test/charts",
      interval: "1m0s",
      type: "oci",
      provider: "aws",
    });
  });

  test("prints the object with --export", async () => {
    const { out } = await helm(
      "shown",
      "--url",
      "https://x/y",
      "--secret-ref",
      "s",
      "--fetch-timeout",
      "2m",
      "--export",
    );
    expect(load(out)).toMatchObject({
      kind: "HelmRepository",
      spec: { url: "https://x/y", interval: "1m0s", timeout: "2m0s", secretRef: { name: "s" } },
    });
  });

  test.each([
    [[], "url is required"],
    [["--url", "ftp://x/y"], "url scheme 'ftp' not supported, can be: http, https and oci"],
  ])("%j is refused with flux's text", async (args, message) => {
    expect((await helm("bad", ...args)).err).toContain(`✗ ${message}`);
  });
});
