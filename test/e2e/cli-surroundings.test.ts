import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CliWorld, cliWorld } from "./cli-world.ts";

let world: CliWorld;
beforeAll(async () => {
  world = await cliWorld();
});
afterAll(async () => {
  await world.close();
});

describe("the command line and its surroundings", () => {
  test("the namespace is that of -n, of FLUX_SYSTEM_NAMESPACE or of the context", async () => {
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
    ["local", "--host-name http://x", ['"http://x" is no host: give a name']],
    ["local", "--config /no/such", ["settings file /no/such cannot be read", "no such file"]],
    ["settings", "--config /no/such", ["settings file /no/such cannot be read", "no such file"]],
    ["local", "--context dev", ["--context needs --kubeconfig FILE here"]],
  ])("%s %s ends with one line that says what is wrong", async (command, args, texts) => {
    const { code, out, err } = await world.sh(command, ...args.split(" "));
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^✗ [^\n]+\n$/);
    for (const text of texts) expect(err).toContain(text);
    expect(err).not.toContain("hunter2");
  });

  test("a kubeconfig that is missing, and one that points nowhere, are named", async () => {
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

  test("settings are printed with where each comes from, and what is printed can be used as the file", async () => {
    const file = join(world.folder, "settings.yaml");
    await writeFile(file, "no-cross-namespace-refs: true\n");
    const printed = await world.runIn({}, "settings", "--config", file);
    expect(printed).toMatchObject({ code: 0, err: "" });
    expect(printed.out).toContain(`# from ${file}\nno-cross-namespace-refs: true\n# default\nconcurrent-ssa: 8\n`);
    await writeFile(file, printed.out);
    expect((await world.runIn({}, "settings", "--config", file)).out).toBe(
      printed.out.replaceAll("# default\n", `# from ${file}\n`),
    );
    const { out } = await world.runIn({}, "settings");
    expect(out).toContain("# default\nno-cross-namespace-refs: false\n");
    expect(out).not.toContain("# from");
  });

  test.each(["settings", "local"])(
    "a settings file with faults ends %s with one line that names file, key and mend",
    async (command) => {
      const file = join(world.folder, "wrong.yaml");
      await writeFile(file, "no-cross-namespace-ref: true\nno-remote-bases: true\n");
      expect(await world.runIn({}, command, "--config", file)).toEqual({
        code: 1,
        out: "",
        err: `✗ settings file ${file} cannot be used: no-cross-namespace-ref is not a setting: did you mean no-cross-namespace-refs?; no-remote-bases is a flag of Flux that Sluice does not honour: remote bases are always refused; remove it\n`,
      });
    },
  );

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
      ["settings"],
      ["local"],
    ];
    for (const command of commands) {
      const { code, out, err } = await world.runIn({}, ...command, "--help");
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
    expect(await world.runIn({}, "--version")).toEqual({ code: 0, out: "sluice version 0.1.0\n", err: "" });
    expect(await world.runIn({}, "version")).toEqual({ code: 0, out: "sluice: v0.1.0\n", err: "" });
    expect(JSON.parse((await world.runIn({}, "version", "-o", "json")).out)).toEqual({ sluice: "v0.1.0" });
  });
});
