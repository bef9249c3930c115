import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, test } from "vitest";
import { type DialectCase, ourVerdict } from "../unit/sources/our-verdict.ts";
import { buildDialects, dialects } from "./build-clients.ts";
import { generatedCases } from "./generated-cases.ts";

/** CI runs 60,000 of each dialect. */
const count = Number(process.env["SLUICE_DIALECT_CASES"] ?? "2000");
const seed = Number(process.env["SLUICE_DIALECT_SEED"] ?? "20261122");
/** Also writes the fixture that machines without Go use. */
const isRecording = (process.env["SLUICE_RECORD"] ?? "") !== "";
const recordedCount = 600;
const missing = await buildDialects();

async function goVerdicts(cases: readonly DialectCase[]): Promise<readonly string[]> {
  const program = spawn(dialects, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(program, "exit");
  const answers = text(program.stdout);
  program.stdin.end(cases.map((one) => `${JSON.stringify(one)}\n`).join(""));
  expect(await ended).toEqual([0, null]);
  return (await answers).trimEnd().split("\n");
}

const kinds = [
  {
    dialect: "range",
    of: "ranges of versions: Masterminds/semver and fluxcd/pkg/version",
    least: { in: 0.05, out: 0.2, refused: 0.1 },
  },
  { dialect: "expression", of: "regular expressions: Go's regexp", least: { in: 0.05, out: 0.1, refused: 0.1 } },
  { dialect: "ignore", of: "ignore patterns: fluxcd/pkg/sourceignore", least: { in: 0.1, out: 0.2 } },
  { dialect: "template", of: "templates: fluxcd/pkg/envsubst", least: { text: 0.3, refused: 0.2 } },
] as const;

describe.skipIf(missing !== undefined)(`Go and Sluice agree${missing ?? ""}`, () => {
  test.each(kinds)(`on ${count} generated $of (seed ${seed})`, async ({ dialect, least }) => {
    const cases = generatedCases(dialect, count, seed);
    const theirs = await goVerdicts(cases);
    expect(theirs.length).toBe(count);
    const differing: unknown[] = [];
    for (const [index, one] of cases.entries()) {
      const ours = await ourVerdict(one);
      if (ours !== theirs[index]) differing.push({ one, go: theirs[index], ours });
    }
    expect({ count: differing.length, first: differing.slice(0, 20) }).toEqual({ count: 0, first: [] });
    // Two dialects that refuse everything would agree.
    const tooFew = Object.entries(least).filter(
      ([verdict, share]) =>
        theirs.filter((one) => one === verdict || one.startsWith(`${verdict}: `)).length < share * count,
    );
    expect(tooFew).toEqual([]);
  });

  afterAll(async () => {
    if (!isRecording) return;
    const cases = kinds.flatMap(({ dialect }) => generatedCases(dialect, recordedCount, seed + 1));
    const theirs = await goVerdicts(cases);
    const lines = cases.map((one, index) => `${JSON.stringify([theirs[index], ...one])}\n`);
    await writeFile(new URL("../fixtures/dialects/recorded.jsonl", import.meta.url), lines.join(""));
  });
});
