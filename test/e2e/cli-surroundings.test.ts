import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../lib/process/system-clock.ts";
import { openStateFolder } from "../../local/state-folder.ts";
import { type CliWorld, cliWorld } from "./cli-world.ts";

let world: CliWorld;
beforeAll(async () => {
  world = await cliWorld();
});
afterAll(async () => {
  await world.close();
});

describe("the command line and its surroundings", () => {
  test("the namespace comes from -n, FLUX_SYSTEM_NAMESPACE or the context", async () => {
    const KUBECONFIG = world.kubeconfig;
    const where = async (env: Record<string, string>, ...args: string[]) =>
      /in "(.*)" namespace/.exec((await world.runIn({ KUBECONFIG, ...env }, "get", "ks", "missing", ...args)).err)?.[1];
    expect(await where({})).toBe("flux-system");
    expect(await where({ FLUX_SYSTEM_NAMESPACE: "gitops" })).toBe("gitops");
    expect(await where({ FLUX_SYSTEM_NAMESPACE: "gitops" }, "-n", "apps")).toBe("apps");
    expect(await where({}, "--ns-follows-kube-context")).toBe("default");
    const bad = await world.runIn({ KUBECONFIG, FLUX_SYSTEM_NAMESPACE: "No!" }, "get", "ks", "missing");
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
    ["push", "artifact oci://a/b -f /no/such", ['invalid path "/no/such"']],
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
    ["get", "gitrepositories", ["unknown command 'get gitrepositories': use sluice get source git"]],
    ["get", "all", ['no objects found in "flux-system" namespace']],
    ["tree", "ks app", ["unknown command 'tree kustomization': use flux tree kustomization NAME"]],
    ["version", "-o xml", ["--output must be json or yaml, not xml"]],
    ["local", "--api-port 70000", ['invalid port "70000"']],
    ["local", "--host-name http://x", ['invalid host name "http://x"']],
    ["local", "--config /no/such", ["settings file /no/such cannot be read", "no such file"]],
    ["settings", "--config /no/such", ["settings file /no/such cannot be read", "no such file"]],
    ["local", "--yes", ["--yes needs --reset"]],
    ["local", "--reset --state /no/such", ["/no/such is not a state folder of Sluice"]],
    ["local", "--context dev", ["--context needs --kubeconfig FILE here"]],
  ])("%s %s ends with one line that names the fault", async (command, args, texts) => {
    const { code, out, err } = await world.sh(command, ...args.split(" "));
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^✗ [^\n]+\n$/);
    for (const text of texts) expect(err).toContain(text);
    expect(err).not.toContain("hunter2");
  });

  test("a missing kubeconfig and an unreachable cluster are named", async () => {
    const missing = await world.runIn({}, "get", "ks", "--kubeconfig", join(world.folder, "none"));
    expect(missing).toEqual({
      code: 1,
      out: "",
      err: `✗ no kubeconfig at ${join(world.folder, "none")}: give --kubeconfig FILE or set KUBECONFIG\n`,
    });
    const nowhere = join(world.folder, "nowhere");
    await writeFile(
      nowhere,
      "current-context: c\ncontexts: [{name: c, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]",
    );
    const { code, err } = await world.runIn({ KUBECONFIG: nowhere }, "get", "ks");
    expect(code).toBe(1);
    expect(err).toBe(
      "✗ the cluster at http://127.0.0.1:1 cannot be reached: connect ECONNREFUSED 127.0.0.1:1; check the server of context c and that it runs\n",
    );
  });

  test("without another kubeconfig, the one of sluice local in the working folder is used and named", async () => {
    const file = join(world.folder, ".sluice", "kubeconfig");
    await mkdir(join(world.folder, ".sluice"));
    await copyFile(world.kubeconfig, file);
    const { code, err } = await world.runIn({}, "get", "ks", "missing", "-n", "apps");
    expect([code, err]).toEqual([
      1,
      `► using the cluster of sluice local (${file})\n✗ Kustomization object 'missing' not found in "apps" namespace\n`,
    ]);
    await mkdir(join(world.folder, ".kube"));
    await writeFile(join(world.folder, ".kube", "config"), "{}");
    expect((await world.runIn({}, "get", "ks")).err).toBe(
      `► using ${join(world.folder, ".kube", "config")}; for the cluster of sluice local give --kubeconfig ${file}\n` +
        `✗ kubeconfig ${join(world.folder, ".kube", "config")} has no current-context: give --context NAME\n`,
    );
    for (const name of [".sluice", ".kube"]) await rm(join(world.folder, name), { recursive: true });
  });

  test("local --reset asks, is refused without a terminal unless --yes is given, and while sluice local runs", async () => {
    const state = ["--state", join(world.folder, "other")];
    (await openStateFolder(join(world.folder, "other"), systemClock, new AbortController().signal)).close();
    expect(await world.sh("local", "--reset", ...state)).toEqual({
      code: 1,
      out: "",
      err: `✗ --reset removes all state in ${join(world.folder, "other")}: confirm it with --yes\n`,
    });
    expect(await world.sh("local", "--reset", "--yes", ...state)).toMatchObject({
      code: 0,
      err: `✔ removed all state in ${join(world.folder, "other")}\n`,
    });
    expect(await world.sh("local", "--reset", "--yes", "--state", join(world.folder, "state"))).toMatchObject({
      code: 1,
      err: expect.stringContaining(`is in use by process ${process.pid}. End it first`),
    });
  });

  test("settings are printed with the origin of each, and the output can be used as the file", async () => {
    const file = join(world.folder, "settings.yaml");
    await writeFile(file, "no-cross-namespace-refs: true\n");
    const printed = await world.runIn({}, "settings", "--config", file);
    expect(printed).toMatchObject({ code: 0, err: "" });
    expect(printed.out).toContain(`# from ${file}\nno-cross-namespace-refs: true\n# default\n`);
    expect(printed.out).toContain("\n# default\nconcurrent-ssa: 8\n");
    await writeFile(file, printed.out);
    expect((await world.runIn({}, "settings", "--config", file)).out).toBe(
      printed.out.replaceAll("# default\n", `# from ${file}\n`),
    );
    const { out } = await world.runIn({}, "settings");
    expect(out).toContain("# default\nno-cross-namespace-refs: false\n");
    expect(out).not.toContain("# from");
  });

  test.each(["settings", "local"])(
    "a settings file with faults ends %s with one line that names the file, the keys and the fixes",
    async (command) => {
      const file = join(world.folder, "wrong.yaml");
      await writeFile(file, "no-cross-namespace-ref: true\nlog-encoding: json\n");
      expect(await world.runIn({}, command, "--config", file)).toEqual({
        code: 1,
        out: "",
        err: `✗ settings file ${file} cannot be used: no-cross-namespace-ref is not a setting: did you mean no-cross-namespace-refs?; log-encoding is a flag of Flux that Sluice does not honour: logs are lines of JSON; remove it\n`,
      });
    },
  );

  test("every command has a help text", async () => {
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
      ["settings"],
      ["local"],
    ];
    for (const command of commands) {
      const { code, out, err } = await world.runIn({}, ...command, "--help");
      expect([code, err]).toEqual([0, ""]);
      expect(out).toContain(`Usage: ${["sluice", ...command].join(" ")}`);
    }
  });

  test("the help loads no package but commander, because every other one would make each command start later", async () => {
    const folder = await mkdtemp(join(world.folder, "coverage-"));
    const main = join(import.meta.dirname, "../../cli/main.ts");
    const stdio: ["ignore", "pipe", "inherit"] = ["ignore", "pipe", "inherit"];
    const child = spawn(process.execPath, [main, "--help"], {
      stdio,
      env: { ...process.env, NODE_V8_COVERAGE: folder },
    });
    child.stdout.resume();
    await once(child, "close");
    const loaded = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "utf8")));
    const packages = loaded.flatMap(
      (coverage) => coverage.match(/(?<=node_modules\/)(?!\.)(@[^/]+\/)?[^/"]+(?=[^"]*\.[cm]?js")/g) ?? [],
    );
    expect([...new Set(packages)]).toEqual(["commander"]);
  });

  test("a command whose output is no longer read, as with head, ends silently", async () => {
    const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
    const child = spawn(process.execPath, [join(import.meta.dirname, "../../cli/main.ts"), "--help"], { stdio });
    child.stdout.destroy();
    const [err] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect({ err, code: child.exitCode }).toEqual({ err: "", code: 141 });
  });

  test("version prints the version of the package, as does --version", async () => {
    expect(await world.runIn({}, "--version")).toEqual({ code: 0, out: "sluice version 0.1.0\n", err: "" });
    expect(await world.runIn({}, "version")).toEqual({ code: 0, out: "sluice: v0.1.0\n", err: "" });
    expect(JSON.parse((await world.runIn({}, "version", "-o", "json")).out)).toEqual({ sluice: "v0.1.0" });
  });
});
