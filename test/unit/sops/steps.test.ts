import { describe, expect, test } from "vitest";
import { dataKeys } from "../../../lib/sops/data-key.ts";
import { decryptFile } from "../../../lib/sops/file/decrypt-file.ts";
import type { SopsFormat } from "../../../lib/sops/format.ts";
import { inTurns, type Steps } from "../../../lib/sops/steps.ts";
import { macOf, plainKeys, sopsOf } from "./encrypt.ts";

const count = 20_000;
const values = Array.from({ length: count }, (_, at) => `v${at}`);
const sops = sopsOf(macOf(...values), { encrypted_regex: "^none$" });
const mapping = JSON.stringify({ ...Object.fromEntries(values.map((value) => [`k${value}`, value])), sops });
const list = JSON.stringify({ list: values, sops });
const lines = `list:\n${values.map((value) => `- ${value}\n`).join("")}sops: ${JSON.stringify(sops)}\n`;

/** Decrypts a file of many values. */
async function decrypt(text: string, format: SopsFormat, signal: AbortSignal): Promise<void> {
  await decryptFile(Buffer.from(text), { input: format, output: format }, dataKeys([plainKeys]), signal);
}

/** How often others had their turn meanwhile. */
async function turnsDuring(work: Promise<void>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const beat = (): void => {
    turns++;
    if (!isOver) setImmediate(beat);
  };
  setImmediate(beat);
  await work;
  isOver = true;
  return turns;
}

describe.each([
  { what: "a mapping in JSON", text: mapping, format: "json" },
  { what: "a list in JSON", text: list, format: "json" },
  { what: "a mapping in YAML", text: mapping, format: "yaml" },
  { what: "a list in YAML", text: lines, format: "yaml" },
] as const)("a large file, $what", ({ text, format }) => {
  test("lets a heartbeat run while it is parsed and decrypted", async () => {
    // A step of a thousand values, for reading and for decryption.
    expect(await turnsDuring(decrypt(text, format, new AbortController().signal))).toBeGreaterThan((2 * count) / 1_200);
  });

  test("is aborted between two steps", async () => {
    const controller = new AbortController();
    setImmediate(() => controller.abort(new Error("the lease is lost")));
    await expect(decrypt(text, format, controller.signal)).rejects.toThrow("the lease is lost");
  });
});

test("an aborted run makes no further step", async () => {
  let done = 0;
  function* work(): Steps<void> {
    for (; done < 1_000; done++) yield;
  }
  const controller = new AbortController();
  setImmediate(() => controller.abort(new Error("the lease is lost")));
  await expect(inTurns(work(), controller.signal)).rejects.toThrow("the lease is lost");
  expect(done).toBeLessThan(10);
});

test("a small file is handled in one step", async () => {
  const small = JSON.stringify({ a: "b", sops: sopsOf(macOf("b"), { encrypted_regex: "^none$" }) });
  expect(await turnsDuring(decrypt(small, "yaml", new AbortController().signal))).toBeLessThan(2);
});
