import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { testTimeoutMs } from "../deadline.ts";
import { knownDifferences } from "./cluster-differential/known-differences.ts";
import { type Found, runSeed } from "./cluster-differential/run-seed.ts";
import { withPair } from "./cluster-differential/with-pair.ts";

const kubeconfig = process.env["SLUICE_REAL_ADMIN_KUBECONFIG"] ?? "";

/** `SLUICE_DIFFERENTIAL_SEEDS=7` or `1-500` replays one sequence or runs more of them. */
const [first = 1, last = first] = (process.env["SLUICE_DIFFERENTIAL_SEEDS"] ?? "1-30").split("-").map(Number);
const range = Array.from({ length: last - first + 1 }, (_, index) => first + index);
const shown = knownDifferences.map(({ seed }) => seed);

describe.skipIf(kubeconfig === "")("with SLUICE_REAL_ADMIN_KUBECONFIG", () => {
  test(`the embedded API server answers generated requests like a real one (seeds ${first} to ${last})`, {
    timeout: testTimeoutMs + range.length * 30_000,
  }, async () => {
    const found = await withPair(kubeconfig, true, async (pair) => {
      const all: Found[] = [];
      for (const seed of new Set([...range, ...shown])) all.push(...(await runSeed(pair, seed)).found);
      return all;
    });
    const unknown = found.filter((each) => !knownDifferences.some(({ matches }) => matches(each)));
    expect(unknown.map(described)).toEqual([]);
    const gone = knownDifferences.filter(
      ({ seed, matches }) => !found.some((each) => each.seed === seed && matches(each)),
    );
    expect(
      gone.map(({ name }) => `${name}: is gone, so take it out of the table and of the package's docs/fidelity.md`),
    ).toEqual([]);
  });
});

test("docs/fidelity.md of the package lists the known differences", () => {
  const page = readFileSync(new URL("../../packages/embedded-kubernetes/docs/fidelity.md", import.meta.url), "utf8");
  expect(knownDifferences.map(({ name }) => name).filter((name) => !page.includes(`| ${name} |`))).toEqual([]);
});

function described({ seed, step, operation, request, path, real, embedded }: Found): string {
  return [
    `SLUICE_DIFFERENTIAL_SEEDS=${seed}, step ${step} (${operation}): ${request.method} ${request.path}`,
    `  ${path}`,
    `  real:     ${JSON.stringify(real)}`,
    `  embedded: ${JSON.stringify(embedded)}`,
    `  body:     ${JSON.stringify(request.body)}`,
  ].join("\n");
}
