import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownVersion } from "../../../lib/core/own-version.ts";
import { type CliWorld, cliWorld } from "../cli-world.ts";
import { oldNode } from "../old-node.ts";
import { type InstalledCommand, installedCommand } from "./installed-command.ts";

const { signal } = new AbortController();
let world: CliWorld;
let installed: InstalledCommand;
beforeAll(async () => {
  [installed, world] = await Promise.all([installedCommand(), cliWorld()]);
});
afterAll(async () => {
  await world.close();
  await installed.remove();
});

/** Runs the installed command on the embedded cluster. */
const sluice = (...args: readonly string[]) => installed.sluice({ KUBECONFIG: world.kubeconfig }, ...args);

/** Writes files below the working folder of the command. */
async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(installed.folder, name, ".."), { recursive: true });
    await writeFile(join(installed.folder, name), text);
  }
}

describe("the packed command, installed by npm without a checkout and without a network", () => {
  test("tells its version, and its commands by --help", async () => {
    const env = {};
    expect(await installed.sluice(env, "version")).toEqual({ code: 0, out: `sluice: v${ownVersion}\n`, err: "" });
    const help = await installed.sluice(env, "--help");
    expect(help).toMatchObject({ code: 0, out: expect.stringContaining("completion <shell>") });
  });

  test("brings no package, and the licence and notices of its content", async () => {
    const files = await readdir(join(installed.dist, ".."));
    expect(files.toSorted()).toEqual(["LICENSE", "NOTICE", "README.md", "dist", "package.json"]);
  });

  test("loads each of its files on this Node, except for sluice local", async () => {
    const script = `
      const { readdirSync } = await import("node:fs");
      const folder = process.argv[1];
      await import(folder + "/newer-node.mjs");
      for (const name of readdirSync(folder).filter((name) => /-[A-Z0-9]{8}\\.mjs$/.test(name) && !name.startsWith("run-local-"))) {
        await import(folder + "/" + name).catch((error) => console.log(name, error.message));
      }`;
    const node = ["--input-type=module", "-e", script, installed.dist];
    expect(await installed.run("node", node)).toEqual({ code: 0, out: "", err: "" });
  });

  test("prints the settings, each with its description", async () => {
    expect(await installed.sluice({}, "settings")).toMatchObject({
      code: 0,
      out: expect.stringContaining("# default"),
    });
  });

  test("writes an app by init", async () => {
    expect((await installed.sluice({}, "init", "app")).code).toBe(0);
    expect(await readdir(join(installed.folder, "app"))).toContain("app.ts");
  });

  test("pushes an artifact, which get then lists, and completes its name", async () => {
    await write({ "manifests/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n" });
    const url = `oci://${world.registry}/app`;
    const push = ["push", "artifact", `${url}:v1`, "--path", "manifests", "--source", "local", "--revision", "v1"];
    expect(await sluice(...push)).toMatchObject({ code: 0 });
    const spec = { interval: "1h", url, insecure: true, ref: { tag: "v1" } };
    const metadata = { name: "app-of-team", namespace: "default" };
    const object = { apiVersion: "source.toolkit.fluxcd.io/v1", kind: "OCIRepository", metadata, spec };
    await world.cluster.apply(object, { manager: "test", force: true }, signal);
    expect((await sluice("-n", "default", "reconcile", "source", "oci", "app-of-team")).code).toBe(0);
    const listed = await sluice("-n", "default", "get", "sources", "oci");
    expect(listed.out).toMatch(/^app-of-team\tv1@sha256:\w{8}\tFalse\s*\tTrue/m);
    const line = ["get", "sources", "oci", "-n", "default", "app-"];
    expect(await sluice("__complete", "--", ...line)).toEqual({ code: 0, out: "app-of-team\n", err: "" });
  });

  test("checks a cluster", async () => {
    const { code, err } = await sluice("check");
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining("✔") });
  });

  test("renders a chart with its own engine, and prints what that would change", async () => {
    await write({
      "chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n",
      "chart/templates/a.yaml":
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: "{{ .Values.a }}"}\n',
    });
    const chart = { spec: { chart: "app", sourceRef: { kind: "HelmRepository", name: "charts" } } };
    const metadata = { name: "web", namespace: "default" };
    const spec = { interval: "1h", suspend: true, chart, values: { a: "b" } };
    const object = { apiVersion: "helm.toolkit.fluxcd.io/v2", kind: "HelmRelease", metadata, spec };
    await world.cluster.apply(object, { manager: "test", force: true }, signal);
    const diff = await sluice("-n", "default", "diff", "helmrelease", "web", "--chart", "chart");
    expect(diff).toMatchObject({ code: 1, out: "► ConfigMap/default/web created\n" });
  });

  test.skipIf(oldNode === undefined)("refuses sluice local on a Node without SQLite, in one line", async () => {
    expect(await installed.sluice({}, "local")).toEqual({
      code: 1,
      out: "",
      err: expect.stringMatching(
        /^✗ sluice local needs Node 24 or later, this is v\d+\.\d+\.\d+: install Node 24 and put it first on the PATH, or run cli\/sluice.js of a checkout of Sluice, which brings one\n$/,
      ),
    });
  });

  test.skipIf(oldNode === undefined)("runs other commands on a state folder's cluster without SQLite", async () => {
    const { code, err } = await sluice("take-over", "--state", join(world.folder, "state"));
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining("already belongs to local-") });
  });
});

/** Where a program is on this machine. */
function programOf(name: string): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(":")
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
}

const bash = programOf("bash");
const zsh = programOf("zsh");
const fish = programOf("fish");

describe("the completion of the installed command", () => {
  test.skipIf(bash === undefined)("in bash offers commands, and leaves files to bash", async () => {
    const script = `
      source <(sluice completion bash)
      complete -p sluice
      COMP_WORDS=(sluice get ku) COMP_CWORD=2; _sluice; echo "\${COMPREPLY[@]}"
      COMP_WORDS=(sluice push artifact --path man) COMP_CWORD=4; _sluice; echo "\${#COMPREPLY[@]} words"`;
    expect(await installed.run(bash ?? "", ["--norc", "--noprofile", "-c", script])).toEqual({
      code: 0,
      out: "complete -F _sluice sluice\nkustomizations\n0 words\n",
      err: "",
    });
  });

  test.skipIf(zsh === undefined)("in zsh offers commands with their descriptions", async () => {
    const script = `
      autoload -Uz compinit; compinit -u -D
      source <(sluice completion zsh)
      _describe() { print -l -- "\${(@P)2}" }
      words=(sluice get ku) CURRENT=3; _sluice
      words=(sluice completion b) CURRENT=3; _sluice`;
    expect(await installed.run(zsh ?? "", ["-f", "-c", script])).toMatchObject({
      code: 0,
      out: "kustomizations:list Kustomizations\nbash\n",
    });
  });

  test.skipIf(fish === undefined)("in fish offers commands with their descriptions", async () => {
    const script = "sluice completion fish | source; complete -C 'sluice get ku'";
    expect(await installed.run(fish ?? "", ["-N", "-c", script])).toMatchObject({
      code: 0,
      out: "kustomizations\tlist Kustomizations\n",
    });
  });
});
