import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { bundleFunctions } from "../bundle.ts";

/**
 * Before the tests: the constructs take the bundles as they lie there. Answers what to do after the tests: the CDK never removes the
 * temporary folders of a synthesis, so the tests have a `TMPDIR` of their own (`vitest.config.ts`).
 */
export async function setup({ config }: TestProject): Promise<() => void> {
  const temporary = config.env["TMPDIR"];
  if (typeof temporary !== "string") throw new Error("vitest.config.ts: the project infra has no TMPDIR");
  mkdirSync(temporary, { recursive: true });
  await bundleFunctions(join(import.meta.dirname, "../bundles"));
  return () => rmSync(temporary, { recursive: true, force: true });
}
