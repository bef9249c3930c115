import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Manifest } from "../../lib/core/manifest.ts";
import { type CliWorld, cliWorld } from "./cli-world.ts";

const { signal } = new AbortController();

let world: CliWorld;
beforeAll(async () => {
  world = await cliWorld();
  await mkdir(join(world.folder, "app"));
  await writeFile(join(world.folder, "app/config.yaml"), configMap("one"));
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "flux-system" } });
  await apply({
    apiVersion: "source.toolkit.fluxcd.io/v1",
    kind: "OCIRepository",
    metadata: { name: "app", namespace: "flux-system" },
    spec: { interval: "1h", url: `oci://${world.registry}/app`, ref: { tag: "v1" }, insecure: true, suspend: true },
  });
  await apply({
    apiVersion: "kustomize.toolkit.fluxcd.io/v1beta2",
    kind: "Kustomization",
    metadata: { name: "app", namespace: "flux-system" },
    spec: { interval: "1h", prune: true, path: ".", sourceRef: { kind: "OCIRepository", name: "app" }, suspend: true },
  });
});
afterAll(async () => {
  await world.close();
});

function configMap(value: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hello, namespace: default}\ndata: {k: ${value}}\n`;
}

async function apply(manifest: Manifest): Promise<void> {
  await world.cluster.apply(manifest, { manager: "test", force: true }, signal);
}

const push = (...more: readonly string[]) =>
  world.sh(
    "push",
    "artifact",
    `oci://${world.registry}/app:v1`,
    "-f",
    join(world.folder, "app"),
    "--source",
    "https://git.test/app",
    "--revision",
    "main@sha1:0123",
    ...more,
  );

describe("the command line on a running Sluice", () => {
  test("pushes an artifact, the same input under the same digest (25)", async () => {
    const first = await push();
    expect(first).toMatchObject({ code: 0, out: "" });
    expect(first.err).toMatch(
      /^► pushing artifact to 127\.0\.0\.1:\d+\/app:v1\n✔ artifact successfully pushed to 127\.0\.0\.1:\d+\/app@sha256:[0-9a-f]{64}\n$/,
    );
    const again = await push("--insecure-registry", "-o", "json");
    const { url, repository, tag, digest } = JSON.parse(again.out);
    expect(first.err).toContain(`${repository}@${digest}`);
    expect([url, tag, again.err]).toEqual([`oci://${repository}@${digest}`, "v1", ""]);
  });

  test("pushes what comes on standard input, and nothing where that is empty", async () => {
    const from = ["--source", "https://git.test/app", "--revision", "main", "-o", "json", "-f", "-"];
    const pushStdin = () => world.sh("push", "artifact", `oci://${world.registry}/stdin:v1`, ...from);
    expect(await pushStdin()).toMatchObject({ code: 1, err: expect.stringContaining("standard input is empty") });
    world.input = ["kind: ", "ConfigMap\n"];
    const first = await pushStdin();
    expect(first).toMatchObject({ code: 0, out: expect.stringContaining("/stdin@sha256:") });
    expect(await pushStdin()).toEqual(first);
    world.input = [];
  });

  test("resumes a source and a Kustomization, and returns when they have run (11)", async () => {
    const source = await world.sh("resume", "source", "oci", "app", "--timeout", "20s");
    expect(source.code).toBe(0);
    expect(source.err).toMatch(
      /✔ OCIRepository app reconciliation completed\n✔ fetched revision v1@sha256:[0-9a-f]{64}\n$/,
    );
    const kustomization = await world.sh("resume", "ks", "app", "--timeout", "20s");
    expect(kustomization.code).toBe(0);
    expect(kustomization.err).toMatch(
      /✔ Kustomization app reconciliation completed\n✔ applied revision v1@sha256:[0-9a-f]{64}\n$/,
    );
  });

  test("shows both as ready, with the revision that was applied (13, 25)", async () => {
    const sources = await world.sh("get", "sources", "oci");
    expect(sources.out).toMatch(
      /^NAME\tREVISION {10}\tSUSPENDED\tREADY\tMESSAGE.*\napp \tv1@sha256:[0-9a-f]{8}\tFalse {4}\tTrue \tstored artifact for digest 'v1@sha256:[0-9a-f]{8}'\t\n$/,
    );
    for (const alias of ["ks", "kustomization", "kustomizations"]) {
      const all = await world.sh("get", alias, "app", "-A", "--no-header");
      expect(all.out).toMatch(
        /^flux-system\tapp\tv1@sha256:[0-9a-f]{8}\tFalse\tTrue\tApplied revision: v1@sha256:[0-9a-f]{8}\t\n$/,
      );
    }
  });

  test("reconciles with the source and returns when the new content is applied (8)", async () => {
    await world.sh("suspend", "source", "oci", "app");
    await writeFile(join(world.folder, "app/config.yaml"), configMap("two"));
    await push();
    await world.sh("resume", "source", "oci", "app", "--timeout", "20s");
    const reconciled = await world.sh("reconcile", "kustomization", "app", "--with-source", "--timeout", "20s");
    expect(reconciled).toMatchObject({ code: 0, out: "" });
    expect(reconciled.err).toMatch(/✔ applied revision v1@sha256:[0-9a-f]{64}\n$/);
    const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "default", name: "hello" };
    expect(await world.cluster.get(ref, signal)).toMatchObject({ data: { k: "two" } });
  });

  test("annotating twice at once hangs neither command (10)", async () => {
    const both = await Promise.all(["a", "b"].map(() => world.sh("reconcile", "ks", "app", "--timeout", "20s")));
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
  });

  test("shows the events of a Kustomization and of its source (14)", async () => {
    const { code, out } = await world.sh("events", "--for", "Kustomization/app");
    expect(code).toBe(0);
    expect(out).toMatch(/^LAST SEEN/);
    expect(out).toMatch(/Kustomization\/app\s+ConfigMap\/default\/hello created/);
    expect(out).toMatch(/OCIRepository\/app\s+stored artifact with revision/);
  });

  test("suspended objects are neither reconciled nor lost from the list (11)", async () => {
    expect((await world.sh("suspend", "ks", "app")).err).toContain("✔ kustomization suspended");
    expect(await world.sh("reconcile", "ks", "app")).toEqual({ code: 1, out: "", err: "✗ resource is suspended\n" });
    expect((await world.sh("get", "ks")).out).toMatch(/app .*True {5}\tTrue/);
    expect((await world.sh("resume", "ks", "app", "--timeout", "20s")).code).toBe(0);
  });

  test("a field that is not built yet ends a reconcile at once, naming it (7)", async () => {
    await apply({
      apiVersion: "kustomize.toolkit.fluxcd.io/v1",
      kind: "Kustomization",
      metadata: { name: "secret", namespace: "flux-system" },
      spec: {
        interval: "1h",
        prune: true,
        sourceRef: { kind: "OCIRepository", name: "app" },
        decryption: { provider: "sops" },
      },
    });
    const { code, err } = await world.sh("reconcile", "ks", "secret", "--timeout", "20s");
    expect(code).toBe(1);
    expect(err).toMatch(/✗ .*spec\.decryption/);
  });

  test("what is not there is named, with exit code 1 (30)", async () => {
    expect(await world.sh("get", "ks", "missing")).toEqual({
      code: 1,
      out: "",
      err: `✗ Kustomization object 'missing' not found in "flux-system" namespace\n`,
    });
    expect((await world.sh("get", "ks", "-n", "nowhere")).err).toBe(
      '✗ no Kustomization objects found in "nowhere" namespace\n',
    );
  });
});
