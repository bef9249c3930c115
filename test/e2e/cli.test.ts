import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Manifest } from "../../lib/core/manifest.ts";
import { type CliWorld, cliWorld } from "./cli-world.ts";

const { signal } = new AbortController();
const { PATH = "" } = process.env;

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
  test("pushes an artifact, and the same input gets the same digest (25)", async () => {
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

  test("pushes with the source and the revision that git knows of the folder, and says so if there are changes on top", async () => {
    const repository = join(world.folder, "repository");
    await mkdir(repository);
    const author = ["-c", "user.name=a", "-c", "user.email=a@b"];
    const git = (...args: readonly string[]) =>
      execFileSync("git", [...author, ...args], { cwd: repository, encoding: "utf8", env: { PATH } }).trim();
    git("init", "-q", "-b", "main");
    git("remote", "add", "origin", "https://eve:hunter2@git.test/app.git");
    await writeFile(join(repository, "config.yaml"), configMap("one"));
    git("add", ".");
    git("commit", "-q", "-m", "one");
    const revision = `main@sha1:${git("rev-parse", "HEAD")}`;
    const pushed = async (...more: readonly string[]) => {
      const env = { KUBECONFIG: world.kubeconfig, PATH };
      const url = `oci://${world.registry}/of-git:v1`;
      const { code, err } = await world.runIn(env, "push", "artifact", url, "-f", repository, ...more);
      const accept = { accept: "application/vnd.oci.image.manifest.v1+json" };
      const answer = await fetch(`http://${world.registry}/v2/of-git/manifests/v1`, { headers: accept });
      const { annotations } = z.object({ annotations: z.record(z.string(), z.string()) }).parse(await answer.json());
      const [source, at] = ["source", "revision"].map((name) => annotations[`org.opencontainers.image.${name}`]);
      return { code, err, source, revision: at };
    };
    const clean = await pushed();
    expect(clean).toMatchObject({ code: 0, source: "https://git.test/app.git", revision });
    expect(clean.err).toContain(`► using source https://git.test/app.git and revision ${revision}\n`);
    expect(clean.err).not.toMatch(/hunter2|⚠️/);
    await writeFile(join(repository, "config.yaml"), configMap("two"));
    const changes = `⚠️ ${repository} has changes that are not committed`;
    expect(await pushed()).toMatchObject({ code: 0, revision, err: expect.stringContaining(changes) });
    const given = await pushed("--source", "https://git.test/other", "--revision", "v2");
    expect(given).toMatchObject({ code: 0, source: "https://git.test/other", revision: "v2" });
    expect(given.err).not.toContain("⚠️");
  });

  test("pushes standard input, and fails if it is empty", async () => {
    const from = ["--source", "https://git.test/app", "--revision", "main", "-o", "json", "-f", "-"];
    const pushStdin = () => world.sh("push", "artifact", `oci://${world.registry}/stdin:v1`, ...from);
    expect(await pushStdin()).toMatchObject({ code: 1, err: expect.stringContaining("standard input is empty") });
    world.input = ["kind: ", "ConfigMap\n"];
    const first = await pushStdin();
    expect(first).toMatchObject({ code: 0, out: expect.stringContaining("/stdin@sha256:") });
    expect(await pushStdin()).toEqual(first);
    world.input = [];
  });

  describe("a folder without anything that a Kustomization would apply", () => {
    const lost = "a Kustomization with prune: true that follows this artifact would delete all its objects";
    const pushEmpty = (folder: string, ...more: readonly string[]) =>
      world.sh(
        ...["push", "artifact", `oci://${world.registry}/empty:v1`, "-f", folder],
        ...["--source", "https://git.test/app", "--revision", "main", ...more],
      );

    test.each([
      ["no files", {}],
      ["no YAML", { "README.md": "# hello\n" }],
      ["only comments", { "app.yaml": "---\n# kind: ConfigMap\n\n...\n" }],
    ])("is not pushed without --allow-empty: %s", async (_, files) => {
      const folder = await mkdtemp(join(world.folder, "empty-"));
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
      const refused = await pushEmpty(folder);
      expect([refused.code, refused.err.split("\n").at(-2)]).toEqual([
        1,
        `✗ ${folder} has no manifests, so ${lost}: give --allow-empty to push it`,
      ]);
      const allowed = await pushEmpty(folder, "--allow-empty");
      expect(allowed).toMatchObject({
        code: 0,
        err: expect.stringContaining(`⚠️ ${folder} has no manifests, so ${lost}\n`),
      });
    });

    test("of only JSON is not pushed either, because Flux applies JSON only if a kustomization.yaml lists it", async () => {
      const folder = await mkdtemp(join(world.folder, "json-"));
      await writeFile(join(folder, "app.json"), "{}");
      expect((await pushEmpty(folder)).err).toContain(
        `${folder} has no manifests (a *.json file is applied only where a kustomization.yaml lists it), so ${lost}`,
      );
      await writeFile(join(folder, "kustomization.yaml"), "resources: [app.json]\n");
      expect(await pushEmpty(folder)).toMatchObject({ code: 0 });
    });

    test("is pushed only after the user has agreed on a terminal", async () => {
      const folder = await mkdtemp(join(world.folder, "empty-"));
      world.answer = async () => false;
      expect(await pushEmpty(folder)).toMatchObject({ code: 1, err: expect.stringMatching(/✗ nothing was pushed\n$/) });
      world.answer = async () => true;
      expect(await pushEmpty(folder)).toMatchObject({ code: 0 });
      world.answer = undefined;
    });

    test.each([
      ["a manifest", { "app.yml": "kind: ConfigMap\n" }],
      ["a kustomization without YAML's file name", { Kustomization: "resources: [https://example.test]\n" }],
    ])("does not mean a folder with %s", async (_, files) => {
      const folder = await mkdtemp(join(world.folder, "full-"));
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
      expect((await pushEmpty(folder)).err).not.toContain("no manifests");
    });
  });

  test("resumes a source and a Kustomization, and returns when they are reconciled (11)", async () => {
    const source = await world.sh("resume", "source", "oci", "app", "--timeout", "60s");
    expect(source.code).toBe(0);
    expect(source.err).toMatch(
      /✔ OCIRepository app reconciliation completed\n✔ fetched revision v1@sha256:[0-9a-f]{64}\n$/,
    );
    const kustomization = await world.sh("resume", "ks", "app", "--timeout", "60s");
    expect(kustomization.code).toBe(0);
    expect(kustomization.err).toMatch(
      /✔ Kustomization app reconciliation completed\n✔ applied revision v1@sha256:[0-9a-f]{64}\n$/,
    );
  });

  test("shows both as ready, with the applied revision (13, 25)", async () => {
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

  test("reconciles a Kustomization with its source and returns when the new content is applied (8)", async () => {
    await world.sh("suspend", "source", "oci", "app");
    await writeFile(join(world.folder, "app/config.yaml"), configMap("two"));
    await push();
    await world.sh("resume", "source", "oci", "app", "--timeout", "60s");
    const reconciled = await world.sh("reconcile", "kustomization", "app", "--with-source", "--timeout", "60s");
    expect(reconciled).toMatchObject({ code: 0, out: "" });
    expect(reconciled.err).toMatch(/✔ applied revision v1@sha256:[0-9a-f]{64}\n$/);
    const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "default", name: "hello" };
    expect(await world.cluster.get(ref, signal)).toMatchObject({ data: { k: "two" } });
  });

  test("two concurrent reconcile commands both end (10)", async () => {
    const both = await Promise.all(["a", "b"].map(() => world.sh("reconcile", "ks", "app", "--timeout", "60s")));
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
  });

  test("shows the events of a Kustomization and of its source (14)", async () => {
    const { code, out } = await world.sh("events", "--for", "Kustomization/app");
    expect(code).toBe(0);
    expect(out).toMatch(/^LAST SEEN/);
    expect(out).toMatch(/Kustomization\/app\s+ConfigMap\/default\/hello created/);
    expect(out).toMatch(/OCIRepository\/app\s+stored artifact with revision/);
  });

  test("suspended objects are not reconciled but still listed (11)", async () => {
    expect((await world.sh("suspend", "ks", "app")).err).toContain("✔ kustomization suspended");
    expect(await world.sh("reconcile", "ks", "app")).toEqual({ code: 1, out: "", err: "✗ resource is suspended\n" });
    expect((await world.sh("get", "ks")).out).toMatch(/app .*True {5}\tTrue/);
    expect((await world.sh("resume", "ks", "app", "--timeout", "60s")).code).toBe(0);
  });

  test("a source that is refused ends a reconcile at once and is named (7)", async () => {
    await apply({
      apiVersion: "kustomize.toolkit.fluxcd.io/v1",
      kind: "Kustomization",
      metadata: { name: "secret", namespace: "flux-system" },
      spec: {
        interval: "1h",
        prune: true,
        sourceRef: { kind: "ExternalArtifact", name: "app" },
      },
    });
    const { code, err } = await world.sh("reconcile", "ks", "secret", "--timeout", "60s");
    expect(code).toBe(1);
    expect(err).toMatch(/✗ .*'ExternalArtifact\/flux-system\/app'/);
  });

  test("a missing object is named, with exit code 1 (30)", async () => {
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
