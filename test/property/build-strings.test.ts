import fc from "fast-check";
import { expect, test } from "vitest";
import { engineLimits } from "../../lib/manifests/build/build-by-engine.ts";
import { attemptPlain } from "../../lib/manifests/build-plain.ts";
import { realEngine } from "../unit/manifests/build-files.ts";
import { awkward } from "./generated-yaml.ts";

const seed = Number(process.env["SLUICE_BUILD_SEED"] ?? "20261121");

const nasty = Array.from("aZ09 \n\t_-.:,#'\"\\/{}[]&*!|>%@`?=+~<éß漢😀\u00a0");
const texts = fc.oneof(
  fc.string({ unit: fc.constantFrom(...nasty), maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(...Array.from("0123456789-+.:_eExXob TZ")), maxLength: 10 }),
  fc.string({ unit: fc.constantFrom(...nasty, "word", "another", " ", " "), minLength: 60, maxLength: 120 }),
  fc.string({ unit: "grapheme", maxLength: 20 }),
);
/** go-yaml's order of the other keys has cycles, and its output differs from run to run. */
const keys = fc
  .string({ unit: fc.constantFrom(...Array.from("abZ019-_./ é漢:#'\"")), minLength: 1, maxLength: 8 })
  .filter((key) => !/(^|[^0-9])0[0-9]|[0-9]\p{L}/u.test(key));

async function printedByKustomize(file: string): Promise<string> {
  const files = new Map([
    ["a.yaml", Buffer.from(file)],
    ["kustomization.yaml", Buffer.from("resources: [a.yaml]\n")],
  ]);
  const input = { tree: { files, folders: new Set([""]) }, folder: "", spec: {} };
  return realEngine.build(input, engineLimits, new AbortController().signal);
}

function fileOf(data: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n${data}`;
}

function built(file: string): string | undefined {
  const outcome = attemptPlain([{ path: "a.yaml", content: Buffer.from(file) }], {});
  return outcome.kind === "built" ? outcome.build.text : undefined;
}

/** One document of all lines that are built in process, printed by both builders. */
async function bothPrint(
  lines: readonly string[],
): Promise<{ ours: string | undefined; theirs: string; share: number }> {
  const certain = lines.filter((line) => built(fileOf(line)) !== undefined);
  const file = fileOf(certain.join(""));
  return { ours: built(file), theirs: await printedByKustomize(file), share: certain.length / lines.length };
}

test("every string is printed as in go-yaml", async () => {
  const samples = fc.sample(texts, { numRuns: 3_000, seed });
  const printed = await bothPrint(samples.map((text, index) => `  k${index}: ${JSON.stringify(text)}\n`));
  expect(printed.share).toBeGreaterThan(0.25);
  expect(printed.ours).toBe(printed.theirs);
});

test("every plain word is parsed as in go-yaml", async () => {
  const numbers = fc.sample(
    fc.string({ unit: fc.constantFrom(...Array.from("0123456789-+.:_eExXobaTZ")), minLength: 1, maxLength: 8 }),
    {
      numRuns: 3_000,
      seed,
    },
  );
  const plain = [...awkward, ...numbers].filter((text) => !/^[-?:]$|^[-?:]\s|:$/.test(text));
  const printed = await bothPrint(plain.map((text, index) => `  k${index}: ${text}\n`));
  expect(printed.share).toBeGreaterThan(0.25);
  expect(printed.ours).toBe(printed.theirs);
});

test("keys are sorted as in go-yaml", async () => {
  const samples = new Set(fc.sample(keys, { numRuns: 2_000, seed }));
  const printed = await bothPrint([...samples].map((key) => `  ${JSON.stringify(key)}: x\n`));
  expect(printed.share).toBeGreaterThan(0.25);
  expect(printed.ours).toBe(printed.theirs);
});
