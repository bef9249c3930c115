import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { messageOf } from "../../../lib/core/failure.ts";
import type { EngineLimits } from "../../../lib/core/ports/engine.ts";
import { kubectlEngine } from "../../../lib/kube/kubectl-engine.ts";
import { layerKubectl } from "../../../local/layer.ts";

const limits: EngineLimits = { timeoutMs: 20_000, maxMemoryBytes: 1024 ** 3, maxOutputBytes: 1_000_000 };
const forever = new AbortController().signal;
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-engine-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** An engine of a few lines of shell in the place of kubectl. */
async function scripted(name: string, lines: string) {
  const file = join(folder, name);
  await writeFile(file, `#!/bin/sh\n${lines}\n`);
  await chmod(file, 0o755);
  return kubectlEngine(file);
}

async function isAlive(pidFile: string): Promise<boolean> {
  try {
    process.kill(Number(await readFile(pidFile, "utf8")), 0);
    return true;
  } catch {
    return false;
  }
}

describe("the engine runs fenced", () => {
  test("its environment holds nothing of ours", async () => {
    process.env["SLUICE_CANARY"] = "canary-in-the-mine";
    try {
      const engine = await scripted("env", "env");
      const output = await engine.build(folder, limits, forever);
      expect(output).not.toContain("canary");
      const names = output
        .trim()
        .split("\n")
        .map((line) => line.split("=")[0]);
      // The shell that plays the engine sets the last three itself.
      expect(names.filter((name) => !["GOMEMLIMIT", "GOMAXPROCS", "PWD", "OLDPWD", "_"].includes(name ?? ""))).toEqual(
        [],
      );
    } finally {
      delete process.env["SLUICE_CANARY"];
    }
  });

  test("it is asked for no plugins and no helm, from the folder it builds", async () => {
    const engine = await scripted("args", 'echo "$@"; pwd');
    expect(await engine.build(folder, limits, forever)).toBe(
      `kustomize --load-restrictor LoadRestrictionsNone ${folder}\n${folder}\n`,
    );
  });

  test("its address space is limited", async () => {
    const engine = await scripted("limits", "ulimit -v");
    expect(Number(await engine.build(folder, limits, forever)) * 1024).toBe(limits.maxMemoryBytes);
  });

  test("past its time it is killed with everything it started", async () => {
    const pidFile = join(folder, "child.pid");
    const engine = await scripted("slow", `sleep 60 & echo $! > ${pidFile}; wait`);
    const building = engine.build(folder, { ...limits, timeoutMs: 500 }, forever);
    await expect(building).rejects.toMatchObject({ kind: "time", message: "no result within 0.5 s" });
    await expect.poll(() => isAlive(pidFile), { timeout: 5_000 }).toBe(false);
  });

  test("an abort kills it too, and is what the caller gets", async () => {
    const pidFile = join(folder, "aborted.pid");
    const engine = await scripted("aborted", `echo $$ > ${pidFile}; sleep 60`);
    const stop = new AbortController();
    const building = engine.build(folder, limits, stop.signal);
    const outcome = building.then(String, messageOf);
    await expect.poll(() => isAlive(pidFile), { timeout: 5_000 }).toBe(true);
    stop.abort(new Error("lease lost"));
    expect(await outcome).toBe("lease lost");
    await expect.poll(() => isAlive(pidFile), { timeout: 5_000 }).toBe(false);
  });

  test("endless output ends it", async () => {
    const engine = await scripted("endless", "yes");
    await expect(engine.build(folder, limits, forever)).rejects.toMatchObject({ kind: "output" });
  });

  test.each([
    { name: "refusal", lines: "echo 'error: no such thing' >&2; exit 1", kind: "refused", message: "no such thing" },
    {
      name: "panic",
      lines: "echo 'panic: index out of range' >&2; exit 2",
      kind: "refused",
      message: "recovered from kustomize build panic: index out of range",
    },
    {
      name: "memory",
      lines: "echo 'fatal error: runtime: out of memory' >&2; exit 2",
      kind: "memory",
      message: "it needs more memory than it may have",
    },
    { name: "silence", lines: "exit 3", kind: "refused", message: "it ended with code 3" },
  ])("$name is told apart", async ({ name, lines, kind, message }) => {
    const engine = await scripted(name, lines);
    await expect(engine.build(folder, limits, forever)).rejects.toMatchObject({ kind, message });
  });

  test("a kubectl that is not there is said to be missing", async () => {
    const engine = kubectlEngine(join(folder, "absent"));
    await expect(engine.build(folder, limits, forever)).rejects.toMatchObject({ kind: "unavailable" });
  });
});

describe("the kubectl of the layer", () => {
  test("an alias bomb runs into the memory limit, and soon", { timeout: 30_000 }, async () => {
    const levels = Array.from(
      { length: 9 },
      (_, level) => `  a${level + 1}: &a${level + 1} [${`*a${level}, `.repeat(10)}]`,
    );
    const bomb = [
      "apiVersion: v1",
      "kind: ConfigMap",
      "metadata: {name: a}",
      "data:",
      "  a0: &a0 x",
      ...levels,
      "",
    ].join("\n");
    const tree = await mkdtemp(join(folder, "bomb-"));
    await writeFile(join(tree, "a.yaml"), bomb);
    await writeFile(join(tree, "kustomization.yaml"), "resources: [a.yaml]\n");
    const engine = kubectlEngine(await layerKubectl(() => undefined));
    await expect(engine.build(tree, limits, forever)).rejects.toMatchObject({ kind: "memory" });
  });
});
