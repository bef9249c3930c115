import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJsonObject } from "../../lib/core/json.ts";
import { type CliWorld, cliWorld } from "./cli-world.ts";

const { signal } = new AbortController();
const tls = join(import.meta.dirname, "../fixtures/tls");
const policy = join(import.meta.dirname, "../fixtures/flux-create/trustpolicy.json");
let world: CliWorld;
beforeAll(async () => {
  world = await cliWorld();
  const file = join(world.folder, "app.yaml");
  await writeFile(file, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\n");
  const from = ["--source", "https://git.example.test/app", "--revision", "v1", "--insecure-registry"];
  const { code, err } = await world.sh("push", "artifact", `oci://${world.registry}/app:1.0.0`, "-f", file, ...from);
  if (code !== 0) throw new Error(err);
});
afterAll(() => world.close());

const create = (...args: readonly string[]) => world.sh("-n", "default", "create", ...args);

const found = (kind: string, name: string, namespace = "default", group = "") =>
  world.cluster.get({ group, version: "v1", kind, namespace, name }, signal);

/** The values of a Secret, decoded. */
async function valuesOf(name: string): Promise<Readonly<Record<string, string>>> {
  const data = (await found("Secret", name))?.["data"];
  if (!isJsonObject(data)) return {};
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      Buffer.from(typeof value === "string" ? value : "", "base64").toString(),
    ]),
  );
}

describe("sluice create source oci", () => {
  test("creates an OCIRepository, waits for its artifact, and overwrites its spec the second time", async () => {
    const app = ["source", "oci", "app", `--url=oci://${world.registry}/app`, "--insecure", "--interval=1h"];
    const first = await create(...app, "--tag=1.0.0");
    expect(first).toMatchObject({ code: 0, out: "" });
    expect(first.err.split("\n")).toEqual([
      "► applying OCIRepository",
      "✔ OCIRepository created",
      "◎ waiting for OCIRepository reconciliation",
      "✔ OCIRepository reconciliation completed",
      expect.stringMatching(/^✔ fetched revision: 1\.0\.0@sha256:[0-9a-f]{64}$/),
      "",
    ]);
    const second = await create(...app, "--tag-semver=1.x");
    expect(second).toMatchObject({ code: 0, err: expect.stringContaining("✔ OCIRepository updated\n") });
    const object = await found("OCIRepository", "app", "default", "source.toolkit.fluxcd.io");
    expect(object?.["spec"]).toMatchObject({ ref: { semver: "1.x" } });
  });
});

describe("sluice create receiver", () => {
  test("waits for the webhook, whose path is the one in the annotation of its Secret", async () => {
    const secret = await create("secret", "receiver", "hook", "--type=generic", "--hostname=hooks.example.com");
    expect(secret).toEqual({ code: 0, out: "", err: "► receiver secret 'hook' created in 'default' namespace\n" });
    const { token = "" } = await valuesOf("hook");
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    const annotations = (await found("Secret", "hook"))?.metadata.annotations ?? {};
    const url = new URL(annotations["notification.toolkit.fluxcd.io/webhook"] ?? "");
    expect(url.host).toBe("hooks.example.com");
    const created = await create(
      ...["receiver", "hook", "--type=generic", "--secret-ref=hook", "--resource=OCIRepository/app"],
    );
    expect(created).toEqual({
      code: 0,
      out: "",
      err: [
        "✚ generating Receiver",
        "► applying Receiver",
        "✔ Receiver created",
        "◎ waiting for Receiver reconciliation",
        "✔ Receiver hook is ready",
        `✔ generated webhook URL ${url.pathname}`,
        "",
      ].join("\n"),
    });
  });
});

describe("sluice create secret", () => {
  test.each([
    ["helm", "Secret of type kubernetes.io/basic-auth", ["--username=bot", "--password=p4ss"]],
    ["oci", "Secret of type kubernetes.io/dockerconfigjson", ["--url=ghcr.io", "--username=bot", "--password=p4ss"]],
    [
      "tls",
      "Secret of type kubernetes.io/tls",
      [`--tls-crt-file=${tls}/client.crt`, `--tls-key-file=${tls}/client.key`],
    ],
    ["proxy", "Secret of type Opaque", ["--address=http://proxy.example.com", "--username=bot", "--password=p4ss"]],
    [
      "githubapp",
      "Secret of type Opaque",
      ["--app-id=1", "--app-installation-id=2", `--app-private-key=${tls}/rsa.key`],
    ],
    ["notation", "Secret of type Opaque", [`--trust-policy-file=${policy}`, `--ca-cert-file=${tls}/server.crt`]],
  ])("%s creates a %s, and prints no value", async (word, type, options) => {
    const what = word === "notation" ? "notation configuration" : word;
    expect(await create("secret", word, `of-${word}`, ...options)).toEqual({
      code: 0,
      out: "",
      err: `► ${what} secret 'of-${word}' created in 'default' namespace\n`,
    });
    expect(`Secret of type ${String((await found("Secret", `of-${word}`))?.["type"])}`).toBe(type);
  });

  test("keeps the labels and the values of a Secret that the command does not name", async () => {
    const proxy = ["secret", "proxy", "kept", "--address=http://proxy.example.com"];
    expect(await create(...proxy, "--username=bot", "--password=p4ss", "--label=team=a")).toMatchObject({ code: 0 });
    expect(await create(...proxy, "--username=other", "--label=tier=web")).toMatchObject({ code: 0 });
    expect((await found("Secret", "kept"))?.metadata.labels).toEqual({ team: "a", tier: "web" });
    expect(await valuesOf("kept")).toEqual({
      address: "http://proxy.example.com",
      username: "other",
      password: "p4ss",
    });
  });

  test("says that a client certificate is stored without the login that is given beside it", async () => {
    const certificate = [`--tls-crt-file=${tls}/client.crt`, `--tls-key-file=${tls}/client.key`];
    const { code, err } = await create("secret", "helm", "both", ...certificate, "--username=bot", "--password=p4ss");
    expect([code, err]).toEqual([
      0,
      expect.stringContaining("holds the client certificate and no username and password"),
    ]);
    expect(Object.keys(await valuesOf("both"))).toEqual(["tls.crt", "tls.key"]);
  });
});

describe("sluice create tenant", () => {
  const rbac = "rbac.authorization.k8s.io";
  const binding = () => found("RoleBinding", "dev-reconciler", "team", rbac);

  test("creates namespace, service account and role binding, and changes them the second time", async () => {
    expect(await create("tenant", "dev", "--with-namespace=team")).toEqual({
      code: 0,
      out: "",
      err: [
        "► applying namespace team",
        "► applying service account dev",
        "► applying role binding dev-reconciler",
        "✔ tenant setup completed",
        "",
      ].join("\n"),
    });
    const first = await binding();
    expect(first).toMatchObject({ roleRef: { kind: "ClusterRole", name: "cluster-admin" } });
    expect(await create("tenant", "dev", "--with-namespace=team", "--label=env=dev")).toMatchObject({ code: 0 });
    const labels = { "toolkit.fluxcd.io/tenant": "dev", env: "dev" };
    expect((await found("ServiceAccount", "dev", "team"))?.metadata.labels).toEqual(labels);
    const labelled = await binding();
    expect(labelled?.metadata).toMatchObject({ labels });
    expect(labelled?.metadata.uid, "with the same role it is not recreated").toBe(first?.metadata.uid);
    const changed = await create("tenant", "dev", "--with-namespace=team", "--cluster-role=edit", "--skip-namespace");
    expect(changed).toMatchObject({ code: 0, err: expect.not.stringContaining("applying namespace") });
    expect(await binding()).toMatchObject({ roleRef: { kind: "ClusterRole", name: "edit" } });
  });

  test("keeps the labels that a namespace has already", async () => {
    const namespace = {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "old", labels: { level: "restricted" } },
    };
    await world.cluster.create(namespace, { manager: "test" }, signal);
    expect(await create("tenant", "dev", "--with-namespace=old")).toMatchObject({ code: 0 });
    expect((await found("Namespace", "old", ""))?.metadata.labels).toMatchObject({
      level: "restricted",
      "toolkit.fluxcd.io/tenant": "dev",
    });
  });
});
