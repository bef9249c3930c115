import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { deepSteps } from "./deep-steps.ts";

const root = join(import.meta.dirname, "../..");

test("each deep check has a unique name and a description", () => {
  expect(new Set(deepSteps.map(({ name }) => name)).size).toBe(deepSteps.length);
  expect(deepSteps.filter(({ shows }) => shows === "")).toEqual([]);
});

test("the files and folders that a deep check runs exist", () => {
  const named = deepSteps.flatMap(({ command }) =>
    command.flatMap((word) => word.split(/[\s"';$()]+/)).filter((word) => /^(\.\/)?(test|engine|bench)\//.test(word)),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("each variable that a deep check sets is read by a test", () => {
  const files = globSync(["test/**/*.ts", "vitest.config.ts"], { cwd: root });
  const texts = files
    .filter((path) => !path.startsWith("test/checks/"))
    .map((path) => readFileSync(join(root, path), "utf8"));
  const variables = deepSteps.flatMap(({ env = {} }) => Object.keys(env));
  expect(variables.filter((name) => !texts.some((text) => text.includes(`process.env["${name}"]`)))).toEqual([]);
});
