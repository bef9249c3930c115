import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { buildCanaryHash, canaryHash } from "./build-clients.ts";

const isRecording = (process.env["SLUICE_RECORD"] ?? "") !== "";
const missing = await buildCanaryHash();

const files = [
  { what: "types", of: "the Go types whose dump is hashed", file: "../../lib/canary/revision/go-types.json" },
  { what: "vectors", of: "the hashes of generated objects", file: "../fixtures/canary-hash/vectors.jsonl" },
] as const;

describe.skipIf(missing !== undefined)(`Go creates the checked-in files${missing ?? ""}`, () => {
  test.each(files)("$of", async ({ what, file }) => {
    const { stdout } = await promisify(execFile)(canaryHash, [what], { maxBuffer: 16 * 1024 * 1024 });
    const url = new URL(file, import.meta.url);
    if (isRecording) await writeFile(url, stdout);
    expect(stdout === (await readFile(url, "utf8"))).toBe(true);
  });
});
