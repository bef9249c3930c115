import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DataKeys, dataKeys } from "../../lib/sops/data-key.ts";
import { decryptFile } from "../../lib/sops/file/decrypt-file.ts";
import type { SopsFormat } from "../../lib/sops/format.ts";
import { ageIdentities, ageKeys } from "../../lib/sops/keys/age.ts";
import { SopsFault } from "../../lib/sops/sops-fault.ts";
import { ageKeygen, installSops, sops } from "./build-clients.ts";
import { dotenvText, iniText, jsonText, yamlText } from "./sops-cases.ts";

const run = promisify(execFile);
const missing = await installSops();

/** sops itself finds another MAC in some of its files, such as one with `-0.0` in the open, which it reads again as `0`. */
const refused = "refused";

function refusal(error: unknown): string {
  if (error instanceof SopsFault) return refused;
  throw error;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

describe.skipIf(missing !== undefined)(`files encrypted by the real sops${missing ?? ""}`, () => {
  let folder: string;
  let keyFile: string;
  let recipient: string;
  let keys: DataKeys;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sops-"));
    keyFile = join(folder, "key.txt");
    const { stdout } = await run(ageKeygen);
    await writeFile(keyFile, stdout);
    recipient = /public key: (\S+)/.exec(stdout)?.[1] ?? "";
    keys = dataKeys([ageKeys(ageIdentities(stdout))]);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function sopsOf(...args: readonly string[]): Promise<Buffer> {
    const env = { PATH: process.env["PATH"], HOME: folder, SOPS_AGE_KEY_FILE: keyFile };
    const { stdout } = await run(sops, args, { env, encoding: "buffer", cwd: folder, maxBuffer: 1 << 26 });
    return stdout;
  }

  /** Encrypts a text, and decrypts it by sops and by us. */
  async function both(text: string, format: SopsFormat, options: readonly string[]): Promise<[string, string]> {
    const types = ["--input-type", format, "--output-type", format];
    const [plain, encrypted] = [join(folder, "plain"), join(folder, "encrypted")];
    await writeFile(plain, text);
    const bytes = await sopsOf("encrypt", ...types, "--age", recipient, ...options, plain);
    await writeFile(encrypted, bytes);
    const theirs = await sopsOf("decrypt", ...types, encrypted).then(latin1, () => refused);
    const signal = new AbortController().signal;
    const ours = await decryptFile(bytes, { input: format, output: format }, keys, signal).then(latin1, refusal);
    return [theirs, ours];
  }

  const rules = fc.constantFrom(
    [],
    ["--encrypted-regex", "^(data|[a-c].*)$"],
    ["--unencrypted-regex", "[0-9]$"],
    ["--encrypted-suffix", "0"],
    ["--unencrypted-suffix", "1"],
  );

  test.each([
    ["yaml", yamlText, 8],
    ["json", jsonText, 4],
    ["dotenv", dotenvText, 4],
    ["ini", iniText, 4],
  ] as const)("as %s are decrypted to the same bytes as by sops", async (format, texts, numRuns) => {
    await fc.assert(
      fc.asyncProperty(texts, rules, async (text, options) => {
        const [theirs, ours] = await both(text, format, options);
        expect(ours).toBe(theirs);
      }),
      { numRuns },
    );
  });
});
