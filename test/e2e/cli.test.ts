import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../../cli/run.ts";
import { terminal } from "../../cli/terminal.ts";
import type { Manifest } from "../../lib/core/manifest.ts";
import type { Log } from "../../lib/core/ports/log.ts";
import { systemClock } from "../../lib/core/system-clock.ts";
import { connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { type LocalSluice, startLocal } from "../../local/start-local.ts";

const { signal } = new AbortController();
const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

let folder: string;
let sluice: LocalSluice;
let cluster: ReturnType<typeof connect>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-cli-"));
  const ports = { registryPort: 0, receiverPort: 0, apiPort: 0 };
  sluice = await startLocal({ state: join(folder, "state"), ...ports, env: {}, log: silent }, signal);
  const config = await readKubeconfig({ file: sluice.kubeconfig, env: {}, homeDir: folder });
  cluster = connect(config, { clock: systemClock, env: {} });
  await mkdir(join(folder, "app"));
  await writeFile(join(folder, "app/config.yaml"), configMap("one"));
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "flux-system" } });
  await apply({
    apiVersion: "source.toolkit.fluxcd.io/v1",
    kind: "OCIRepository",
    metadata: { name: "app", namespace: "flux-system" },
    spec: { interval: "1h", url: `oci://${sluice.registry}/app`, ref: { tag: "v1" }, insecure: true, suspend: true },
  });
  await apply({
    apiVersion: "kustomize.toolkit.fluxcd.io/v1beta2",
    kind: "Kustomization",
    metadata: { name: "app", namespace: "flux-system" },
    spec: { interval: "1h", prune: true, path: ".", sourceRef: { kind: "OCIRepository", name: "app" }, suspend: true },
  });
});
afterAll(async () => {
  cluster.close();
  await sluice.close();
  await rm(folder, { recursive: true });
});

function configMap(value: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hello, namespace: default}\ndata: {k: ${value}}\n`;
}

async function apply(manifest: Manifest): Promise<void> {
  await cluster.apply(manifest, { manager: "test", force: true }, signal);
}

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command as the process would, on the cluster of these tests. */
async function sh(...args: readonly string[]): Promise<Outcome> {
  return await runIn({ KUBECONFIG: sluice.kubeconfig }, ...args);
}

/** What the next command finds on its standard input. */
let input: readonly string[] = [];

async function runIn(env: Record<string, string>, ...args: readonly string[]): Promise<Outcome> {
  let out = "";
  let err = "";
  const code = await run(args, {
    terminal: terminal(
      (text) => {
        out += text;
      },
      (text) => {
        err += text;
      },
    ),
    env,
    homeDir: folder,
    stdin: Readable.from(input.map((text) => Buffer.from(text))),
    signal,
    onSignal: () => {},
    exit: () => {
      throw new Error("exit");
    },
  });
  return { code, out, err };
}

const push = (...more: readonly string[]) =>
  sh(
    "push",
    "artifact",
    `oci://${sluice.registry}/app:v1`,
    "-f",
    join(folder, "app"),
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
    const pushStdin = () => sh("push", "artifact", `oci://${sluice.registry}/stdin:v1`, ...from);
    expect(await pushStdin()).toMatchObject({ code: 1, err: expect.stringContaining("standard input is empty") });
    input = ["kind: ", "ConfigMap\n"];
    const first = await pushStdin();
    expect(first).toMatchObject({ code: 0, out: expect.stringContaining("/stdin@sha256:") });
    expect(await pushStdin()).toEqual(first);
    input = [];
  });

  test("resumes a source and a Kustomization, and returns when they have run (11)", async () => {
    const source = await sh("resume", "source", "oci", "app", "--timeout", "20s");
    expect(source.code).toBe(0);
    expect(source.err).toMatch(
      /✔ OCIRepository app reconciliation completed\n✔ fetched revision v1@sha256:[0-9a-f]{64}\n$/,
    );
    const kustomization = await sh("resume", "ks", "app", "--timeout", "20s");
    expect(kustomization.code).toBe(0);
    expect(kustomization.err).toMatch(
      /✔ Kustomization app reconciliation completed\n✔ applied revision v1@sha256:[0-9a-f]{64}\n$/,
    );
  });

  test("shows both as ready, with the revision that was applied (13, 25)", async () => {
    const sources = await sh("get", "sources", "oci");
    expect(sources.out).toMatch(
      /^NAME\tREVISION {10}\tSUSPENDED\tREADY\tMESSAGE.*\napp \tv1@sha256:[0-9a-f]{8}\tFalse {4}\tTrue \tstored artifact for digest 'v1@sha256:[0-9a-f]{8}'\t\n$/,
    );
    for (const alias of ["ks", "kustomization", "kustomizations"]) {
      const all = await sh("get", alias, "app", "-A", "--no-header");
      expect(all.out).toMatch(
        /^flux-system\tapp\tv1@sha256:[0-9a-f]{8}\tFalse\tTrue\tApplied revision: v1@sha256:[0-9a-f]{8}\t\n$/,
      );
    }
  });

  test("reconciles with the source and returns when the new content is applied (8)", async () => {
    await sh("suspend", "source", "oci", "app");
    await writeFile(join(folder, "app/config.yaml"), configMap("two"));
    await push();
    await sh("resume", "source", "oci", "app", "--timeout", "20s");
    const reconciled = await sh("reconcile", "kustomization", "app", "--with-source", "--timeout", "20s");
    expect(reconciled).toMatchObject({ code: 0, out: "" });
    expect(reconciled.err).toMatch(/✔ applied revision v1@sha256:[0-9a-f]{64}\n$/);
    const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "default", name: "hello" };
    expect(await cluster.get(ref, signal)).toMatchObject({ data: { k: "two" } });
  });

  test("annotating twice at once hangs neither command (10)", async () => {
    const both = await Promise.all(["a", "b"].map(() => sh("reconcile", "ks", "app", "--timeout", "20s")));
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
  });

  test("shows the events of a Kustomization and of its source (14)", async () => {
    const { code, out } = await sh("events", "--for", "Kustomization/app");
    expect(code).toBe(0);
    expect(out).toMatch(/^LAST SEEN/);
    expect(out).toMatch(/Kustomization\/app\s+ConfigMap\/default\/hello created/);
    expect(out).toMatch(/OCIRepository\/app\s+stored artifact with revision/);
  });

  test("suspended objects are neither reconciled nor lost from the list (11)", async () => {
    expect((await sh("suspend", "ks", "app")).err).toContain("✔ kustomization suspended");
    expect(await sh("reconcile", "ks", "app")).toEqual({ code: 1, out: "", err: "✗ resource is suspended\n" });
    expect((await sh("get", "ks")).out).toMatch(/app .*True {5}\tTrue/);
    expect((await sh("resume", "ks", "app", "--timeout", "20s")).code).toBe(0);
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
    const { code, err } = await sh("reconcile", "ks", "secret", "--timeout", "20s");
    expect(code).toBe(1);
    expect(err).toMatch(/✗ .*spec\.decryption/);
  });

  test("what is not there is named, with exit code 1 (30)", async () => {
    expect(await sh("get", "ks", "missing")).toEqual({
      code: 1,
      out: "",
      err: `✗ Kustomization object 'missing' not found in "flux-system" namespace\n`,
    });
    expect((await sh("get", "ks", "-n", "nowhere")).err).toBe(
      '✗ no Kustomization objects found in "nowhere" namespace\n',
    );
  });
});

describe("the command line and its surroundings", () => {
  test("the namespace is that of -n, of FLUX_SYSTEM_NAMESPACE or of the context", async () => {
    const KUBECONFIG = sluice.kubeconfig;
    const where = async (env: Record<string, string>, ...args: string[]) =>
      /in "(.*)" namespace/.exec((await runIn({ KUBECONFIG, ...env }, "get", "ks", "missing", ...args)).err)?.[1];
    expect(await where({})).toBe("flux-system");
    expect(await where({ FLUX_SYSTEM_NAMESPACE: "gitops" })).toBe("gitops");
    expect(await where({ FLUX_SYSTEM_NAMESPACE: "gitops" }, "-n", "apps")).toBe("apps");
    expect(await where({}, "--ns-follows-kube-context")).toBe("default");
    const bad = await runIn({ KUBECONFIG, FLUX_SYSTEM_NAMESPACE: "No!" }, "get", "ks", "missing");
    expect(bad.err).toContain('⚠️  ignoring invalid FLUX_SYSTEM_NAMESPACE: "No!"\n');
  });

  test.each([
    ["push", "artifact", ["artifact URL is required"]],
    ["push", "artifact oci://a/b", ["--source is required"]],
    ["push", "artifact oci://a/b --source s", ["--revision is required"]],
    ["push", "artifact oci://a/b --source s --revision r", ['invalid path ""', ": give --path"]],
    ["push", "artifact oci://a/b --source s --revision r -f /no/such", ['invalid path "/no/such"']],
    [
      "push",
      "artifact oci://a/b --source s --revision r -f /tmp -a k=v=w",
      ["invalid annotation k=v=w, must be in the format key=value"],
    ],
    ["push", "artifact oci://a/b --source s --revision r -f /tmp --creds hunter2", ['"--creds"', "user:password"]],
    [
      "push",
      "artifact http://a/b --source s --revision r -f /tmp",
      ["URL must be in format 'oci://<domain>/<org>/<repo>'"],
    ],
    ["reconcile", "ks", ["Kustomization name is required"]],
    ["reconcile", "source oci", ["OCIRepository name is required"]],
    ["suspend", "ks", ["Kustomization name is required"]],
    ["get", "ks --timeout soon", ['invalid argument "soon" for "--timeout" flag']],
    ["get", "nothing", ["unknown command 'nothing'"]],
    ["get", "hr", ["unknown command 'hr': Sluice has none yet, flux's own may do on the same objects"]],
    ["tree", "ks app", ["unknown command 'tree': Sluice has none yet, flux's own may do"]],
    ["version", "-o xml", ["--output must be json or yaml, not xml"]],
    ["local", "--api-port 70000", ['"70000" is no port']],
    ["local", "--context dev", ["--context needs --kubeconfig FILE here"]],
  ])("%s %s ends with one line that says what is wrong", async (command, args, texts) => {
    const { code, out, err } = await sh(command, ...args.split(" "));
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^✗ [^\n]+\n$/);
    for (const text of texts) expect(err).toContain(text);
    expect(err).not.toContain("hunter2");
  });

  test("a kubeconfig that is missing, and one that points nowhere, are named", async () => {
    const missing = await runIn({}, "get", "ks", "--kubeconfig", join(folder, "none"));
    expect(missing).toEqual({
      code: 1,
      out: "",
      err: `✗ no kubeconfig at ${join(folder, "none")}: give --kubeconfig FILE or set KUBECONFIG\n`,
    });
    const nowhere = join(folder, "nowhere");
    await writeFile(
      nowhere,
      "current-context: c\ncontexts: [{name: c, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]",
    );
    const { code, err } = await runIn({ KUBECONFIG: nowhere }, "get", "ks");
    expect(code).toBe(1);
    expect(err).toBe(
      "✗ the cluster at http://127.0.0.1:1 cannot be reached: connect ECONNREFUSED 127.0.0.1:1; check the server of context c and that it runs\n",
    );
  });

  test("every command has its help", async () => {
    const commands = [
      [],
      ["get"],
      ["get", "sources"],
      ["get", "sources", "oci"],
      ["get", "kustomizations"],
      ["reconcile", "source", "oci"],
      ["reconcile", "kustomization"],
      ["suspend", "kustomization"],
      ["resume", "source", "oci"],
      ["push", "artifact"],
      ["events"],
      ["version"],
      ["local"],
    ];
    for (const command of commands) {
      const { code, out, err } = await runIn({}, ...command, "--help");
      expect([code, err]).toEqual([0, ""]);
      expect(out).toContain(`Usage: ${["sluice", ...command].join(" ")}`);
    }
  });

  test("output that nobody reads any more, as behind head, ends a command quietly", async () => {
    const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
    const child = spawn(process.execPath, [join(import.meta.dirname, "../../cli/main.ts"), "--help"], { stdio });
    child.stdout.destroy();
    const [err] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect({ err, code: child.exitCode }).toEqual({ err: "", code: 141 });
  });

  test("version is that of the package, also as an option, as of other commands", async () => {
    expect(await runIn({}, "--version")).toEqual({ code: 0, out: "sluice version 0.1.0\n", err: "" });
    expect(await runIn({}, "version")).toEqual({ code: 0, out: "sluice: v0.1.0\n", err: "" });
    expect(JSON.parse((await runIn({}, "version", "-o", "json")).out)).toEqual({ sluice: "v0.1.0" });
  });
});
