import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { filesThatStartProcesses } from "./files-that-start-processes.ts";
import { readArguments } from "./repeat-options.ts";
import { vitestModule } from "./run-vitest.ts";

describe("the arguments of the load test", () => {
  const usual = { times: 10, burners: 2, list: false, root: undefined, files: [] };

  test.each([
    { args: [], read: usual },
    {
      args: ["--times", "3", "--burners=0", "a.test.ts", "b.test.ts"],
      read: { ...usual, times: 3, burners: 0, files: ["a.test.ts", "b.test.ts"] },
    },
    { args: ["--list"], read: { ...usual, list: true } },
    { args: ["--root", "/x", "a.test.ts"], read: { ...usual, root: "/x", files: ["a.test.ts"] } },
    { args: ["--help"], read: "help" },
  ])("$args", ({ args, read }) => {
    expect(readArguments(args)).toEqual(read);
  });

  test.each([
    { args: ["--times", "0"], says: "--times: a whole number from 1 on" },
    { args: ["--times", "often"], says: "--times: a whole number from 1 on" },
    { args: ["--burners", "1.5"], says: "--burners: a whole number" },
    { args: ["--time", "3"], says: "Unknown option '--time'" },
  ])("$args are refused", ({ args, says }) => {
    expect(() => readArguments(args)).toThrow(says);
  });
});

describe("the test files that start a process", () => {
  const files: Readonly<Record<string, string>> = {
    "test/own.test.ts": 'import { spawn } from "node:child_process";',
    "test/e2e/far.test.ts": 'import { world } from "./world.ts";',
    "test/e2e/world.ts": 'import {\n  spawnLocal,\n} from "../../local/sluice-process.ts";',
    "local/sluice-process.ts": 'import { spawn } from "node:child_process";',
    "test/late.test.ts": 'const { start } = await import("./doubles/start.ts");',
    "test/doubles/start.ts": 'export { spawn as start } from "node:child_process";',
    "test/circle.test.ts": 'import { a } from "./doubles/a.ts";',
    "test/doubles/a.ts": 'import { b } from "./b.ts";',
    "test/doubles/b.ts": 'import { a } from "./a.ts";',
    "test/lib.test.ts": 'import { credential } from "../lib/kube/credential.ts";\nimport { gone } from "./gone.ts";',
    "lib/kube/credential.ts": 'import { execFile } from "node:child_process";',
    "packages/p/test/own.test.ts": 'import { start } from "./start.ts";',
    "packages/p/test/start.ts": 'import { fork } from "node:child_process";',
  };

  test("import node:child_process, or test code or a part of sluice local that does", () => {
    const tests = Object.keys(files).filter((file) => file.endsWith(".test.ts"));
    expect(filesThatStartProcesses(tests, (file) => files[file])).toEqual([
      "test/own.test.ts",
      "test/e2e/far.test.ts",
      "test/late.test.ts",
      "packages/p/test/own.test.ts",
    ]);
  });
});

describe("a run of the load test", () => {
  const program = fileURLToPath(new URL("repeat-beside-load.ts", import.meta.url));
  const everySecond = `
import { existsSync, rmSync, writeFileSync } from "node:fs";
test("holds", () => {
  if (existsSync("once")) { rmSync("once"); throw new Error("too late"); }
  writeFileSync("once", "");
});`;

  test.each([
    {
      what: "that always pass, also beside load",
      burners: 1,
      text: 'test("holds", () => {});',
      status: 0,
      says: /^a\.test\.ts: 2 passed, 0 failed\n$/,
    },
    {
      what: "of which one fails now and then, with its name and message",
      text: everySecond,
      status: 1,
      says: /^a\.test\.ts: 1 passed, 1 failed\n {2}run 2: \S*a\.test\.ts: holds\n[^]*too late/,
    },
    {
      what: "of a file that cannot be loaded",
      text: 'throw new Error("gone");',
      status: 1,
      says: /^a\.test\.ts: 0 passed, 2 failed\n[^]*gone/,
    },
    {
      what: "that are all skipped, and reports that",
      text: 'test.skip("holds", () => {});',
      status: 0,
      says: /^a\.test\.ts: 2 passed, 0 failed \(no test was run: its part is missing\)\n$/,
    },
  ])("counts tests $what", ({ text, status, says, burners = 0 }) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "sluice-repeat-")));
    try {
      writeFileSync(join(folder, "a.test.ts"), `import { test } from ${vitestModule};\n${text}`);
      const args = [program, `--root=${folder}`, "--times=2", `--burners=${burners}`, "a.test.ts"];
      const run = spawnSync(process.execPath, args, { encoding: "utf8" });
      expect({ status: run.status, stdout: run.stdout }).toEqual({ status, stdout: expect.stringMatching(says) });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
