import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { deadlineMs } from "../../deadline.ts";
import { runTests } from "../../faults/run-tests.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-run-tests-"));
  symlinkSync(join(import.meta.dirname, "../../../node_modules"), join(folder, "node_modules"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

function run(files: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), `import { afterAll, describe, expect, test } from "vitest";\n${text}`);
  }
  const signal = new AbortController().signal;
  return runTests(folder, { files: Object.keys(files), named: undefined, bail: false, timeoutMs: deadlineMs, signal });
}

const passes = 'test("passes", () => expect(1).toBe(1));';

test("the output of a test run names each error: of a test, a hook, a file that cannot be loaded, and outside of any test", async () => {
  const said = await run({
    "a.test.ts": `${passes} test("fails", () => expect(1).toBe(2)); test.skip("later", () => {});
describe("a suite", () => { afterAll(() => { throw new Error("no end"); }); ${passes} });`,
    "b.test.ts": 'throw new Error("cannot be loaded");',
    "c.test.ts": 'test("leaves a rejection", () => { void Promise.reject(new Error("nobody waits")); });',
  });
  expect({ ...said, passed: said.passed.toSorted() }).toEqual({
    passed: ["a suite passes", "leaves a rejection", "passes"],
    failed: ["fails", "a hook of a suite: no end"],
    skipped: 1,
    unloaded: ["b.test.ts: cannot be loaded"],
    stray: [expect.stringMatching(/^Error: nobody waits .*c\.test\.ts:2/)],
    hung: false,
  });
});

test("planted faults are tested without the variables that name real parts", async () => {
  vi.stubEnv("SLUICE_REAL_KUBECONFIG", "/nowhere");
  const { passed } = await run({
    "a.test.ts": 'test.skipIf(process.env["SLUICE_REAL_KUBECONFIG"] !== undefined)("embedded", () => {});',
  });
  expect(passed).toEqual(["embedded"]);
});
