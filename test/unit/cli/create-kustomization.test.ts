import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fileCluster } from "../../doubles/file-cluster.ts";
import { runCommand } from "../../doubles/run-command.ts";
import { smallDefinition } from "../../doubles/small-definition.ts";

const { signal } = new AbortController();
const embedded = fileCluster({ definitions: false, controllers: false });
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-create-"));
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "apps" } };
  await embedded.cluster.create(namespace, { manager: "test" }, signal);
  const definition = smallDefinition("kustomize.toolkit.fluxcd.io", "Kustomization", "kustomizations", ["v1"]);
  await embedded.cluster.create(definition, { manager: "test" }, signal);
});
afterAll(() => rm(folder, { recursive: true }));

function create(...args: readonly string[]) {
  const command = ["-n", "apps", "--kubeconfig", embedded.kubeconfig, "create", "kustomization", ...args];
  return runCommand(command, { env: {}, folder });
}

const refOf = (name: string) => ({
  group: "kustomize.toolkit.fluxcd.io",
  version: "v1",
  kind: "Kustomization",
  namespace: "apps",
  name,
});

/** The spec that `--export` prints. */
async function exported(...args: readonly string[]): Promise<unknown> {
  const { code, err, out } = await create("podinfo", "--source", "podinfo", ...args, "--export");
  expect([code, err]).toEqual([0, ""]);
  const document = load(out);
  return typeof document === "object" && document !== null && "spec" in document ? document.spec : undefined;
}

/** Plays the reconcile of a Kustomization: what its Ready condition says of this generation. */
async function says(name: string, generation: number, ready: object, more: object = {}): Promise<void> {
  await expect
    .poll(async () => (await embedded.cluster.get(refOf(name), signal))?.metadata.generation)
    .toBe(generation);
  const condition = { type: "Ready", observedGeneration: generation, lastTransitionTime: "2026-11-23T12:00:00Z" };
  const body = { status: { observedGeneration: generation, conditions: [{ ...condition, ...ready }], ...more } };
  await embedded.cluster.patch(
    refOf(name),
    { type: "merge", body },
    { manager: "test", subresource: "status" },
    signal,
  );
}

const whole = { interval: "1m0s", path: "./", prune: false, sourceRef: { kind: "GitRepository", name: "podinfo" } };

describe("sluice create kustomization", () => {
  test("with --export prints the same as flux, and creates nothing", async () => {
    const story =
      "podinfo --target-namespace=default --source=podinfo --path=./kustomize --prune=true --wait=true --interval=30m --retry-interval=2m --health-check-timeout=3m --export";
    expect(await create(...story.split(" "))).toEqual({
      code: 0,
      err: "",
      out: `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: podinfo
  namespace: apps
spec:
  interval: 30m0s
  path: ./kustomize
  prune: true
  retryInterval: 2m0s
  sourceRef:
    kind: GitRepository
    name: podinfo
  targetNamespace: default
  timeout: 3m0s
  wait: true
`,
    });
    expect(await embedded.cluster.get(refOf("podinfo"), signal)).toBe(undefined);
  });

  test("creates a Kustomization and waits until it is applied", async () => {
    const command = create("web", "--source", "OCIRepository/web.sources", "--prune", "--label", "team=a");
    await says("web", 1, { status: "False", reason: "ArtifactFailed", message: "no artifact" }, {});
    expect((await command).err).toContain("✗ Kustomization reconciliation failed: 'no artifact'");
    const again = create("web", "--source", "OCIRepository/web.sources", "--label", "team=a");
    const revision = "v1@sha256:1";
    await says(
      "web",
      2,
      { status: "True", reason: "ReconciliationSucceeded", message: "" },
      { lastAppliedRevision: revision },
    );
    expect(await again).toEqual({
      code: 0,
      out: "",
      err: [
        "✚ generating Kustomization",
        "► applying Kustomization",
        "✔ Kustomization updated",
        "◎ waiting for Kustomization reconciliation",
        "✔ Kustomization web is ready",
        `✔ applied revision ${revision}`,
        "",
      ].join("\n"),
    });
    const live = await embedded.cluster.get(refOf("web"), signal);
    expect([live?.metadata.labels, live?.["spec"]]).toEqual([
      { team: "a" },
      { ...whole, sourceRef: { kind: "OCIRepository", name: "web", namespace: "sources" } },
    ]);
  });

  test.each([
    { options: [], spec: {} },
    { options: ["--path", "../../etc//x/"], spec: { path: "./etc/x" } },
    { options: ["--wait"], spec: { wait: true, timeout: "2m0s" } },
    { options: ["--wait=false", "--prune=false"], spec: {} },
    {
      options: ["--health-check", "Deployment/a.b,HelmRelease/c.d", "--health-check-timeout", "3m"],
      spec: {
        timeout: "3m0s",
        healthChecks: [
          { kind: "Deployment", name: "a", namespace: "b" },
          { apiVersion: "helm.toolkit.fluxcd.io/v2", kind: "HelmRelease", name: "c", namespace: "d" },
        ],
      },
    },
    {
      options: ["--wait", "--health-check", "Deployment/a.b"],
      spec: { wait: true, timeout: "2m0s" },
    },
    { options: ["--depends-on", "a,b/c"], spec: { dependsOn: [{ name: "a" }, { namespace: "b", name: "c" }] } },
    { options: ["--service-account", "deployer"], spec: { serviceAccountName: "deployer" } },
    {
      options: ["--decryption-provider", "sops", "--decryption-secret", "keys"],
      spec: { decryption: { provider: "sops", secretRef: { name: "keys" } } },
    },
    { options: ["--kubeconfig-secret-ref", "there"], spec: { kubeConfig: { secretRef: { name: "there" } } } },
    { options: ["--target-namespace", "shop"], spec: { targetNamespace: "shop" } },
    { options: ["--interval", "90s", "--retry-interval", "5s"], spec: { interval: "1m30s", retryInterval: "5s" } },
    { options: ["--source", "bucket/b.c"], spec: { sourceRef: { kind: "Bucket", name: "b", namespace: "c" } } },
  ])("with $options sets the spec to $spec", async ({ options, spec }) => {
    expect(await exported(...options)).toEqual({ ...whole, ...spec });
  });

  test.each([
    { options: [], says: "source is required" },
    { options: ["--source", "Bucket/"], says: "no name given for source of kind 'Bucket'" },
    { options: ["--source", "GitRepository"], says: "no kind specified for source 'GitRepository'" },
    {
      options: ["--source", "HelmRepository/a"],
      says: "source kind 'HelmRepository' is not supported, must be one of: OCIRepository, GitRepository, Bucket, ExternalArtifact",
    },
    {
      options: ["--source", "a", "--health-check", "Deployment"],
      says: "invalid health check 'Deployment' must be in the format 'kind/name.namespace'",
    },
    {
      options: ["--source", "a", "--health-check", "Job/a.b"],
      says: "invalid health check kind 'Job' can be HelmRelease, Deployment, DaemonSet or StatefulSet",
    },
    {
      options: ["--source", "a", "--interval", "soon"],
      says: 'invalid argument "soon" for "--interval" flag: write it like 30s, 5m or 1h',
    },
  ])("with $options fails: $says", async ({ options, says: text }) => {
    expect(await create("podinfo", ...options, "--export")).toEqual({ code: 1, out: "", err: `✗ ${text}\n` });
  });
});
