import { armor } from "age-encryption";
import { messageOf } from "../../../lib/core/failure.ts";
import { dataKeys } from "../../../lib/sops/data-key.ts";
import { decryptFile, verifyFile } from "../../../lib/sops/file/decrypt-file.ts";
import { maxFileBytes } from "../../../lib/sops/file/load-file.ts";
import type { SopsFormat } from "../../../lib/sops/format.ts";
import { ageKeys, maxTries } from "../../../lib/sops/keys/age.ts";
import { maxParts } from "../../../lib/sops/tree.ts";
import { encrypted, macOf, plainKeys, sopsOf } from "../../unit/sops/encrypt.ts";
import { identities } from "../../unit/sops/fixtures.ts";
import type { WorstInput } from "../worst-input.ts";

const signal = new AbortController().signal;
const keys = dataKeys([plainKeys]);

function fileOf(name: string, format: SopsFormat, text: () => string, memoryMiB = 400): WorstInput {
  const store = { yaml: "yaml-load.ts", json: "json.ts", ini: "ini-reader.ts", dotenv: "dotenv.ts", binary: "json.ts" };
  return {
    reader: `lib/sops/stores/${store[format]}`,
    name,
    memoryMiB,
    make: async () => {
      const bytes = Buffer.from(text());
      return () =>
        decryptFile(bytes, { input: format, output: format, ignoreMac: true }, keys, signal).catch(messageOf);
    },
  };
}

const metadata = (more: Readonly<Record<string, unknown>> = {}): string => JSON.stringify(sopsOf(macOf(), more));
/** The metadata of a format that has one level. */
const flat = (prefix: string, separator: string): string =>
  [
    ["age__list_0__map_enc", Buffer.alloc(32, 7).toString("base64")],
    ["age__list_0__map_recipient", "age1"],
    ["lastmodified", "2026-01-02T03:04:05Z"],
    ["mac", macOf()],
    ["version", "3.13.2"],
    ["unencrypted_suffix", "d"],
  ]
    .map(([key, value]) => `${prefix}${key}${separator}${value}\n`)
    .join("");

const filled = (part: string, bytes: number): string => part.repeat(Math.floor(bytes / part.length));
const plainRule = { encrypted_suffix: "_encrypted" };

/** The worst inputs of what reads files that sops has encrypted, and of keys. */
export const sopsReaders: readonly WorstInput[] = [
  fileOf(
    `${maxParts} values in YAML`,
    "yaml",
    () => `l: [${"1,".repeat(maxParts - 500)}1]\nsops: ${metadata(plainRule)}\n`,
  ),
  fileOf("one value of 4 MiB in YAML", "yaml", () => `a: "${"\\n".repeat(2_000_000)}"\nsops: ${metadata(plainRule)}\n`),
  fileOf("comments in YAML", "yaml", () => `${"#\n".repeat(maxParts - 500)}a: b\nsops: ${metadata(plainRule)}\n`),
  fileOf(
    `${maxParts} values in JSON`,
    "json",
    () => `{"l":[${"1,".repeat(maxParts - 500)}1],"sops":${metadata(plainRule)}}`,
  ),
  fileOf("encrypted values in JSON", "json", () => {
    const value = JSON.stringify(encrypted("a", "l:"));
    return `{"l":[${filled(`${value},`, maxFileBytes - 2_000)}${value}],"sops":${metadata()}}`;
  }),
  fileOf(`${maxParts} lines in INI`, "ini", () => {
    const values = Array.from({ length: maxParts - 100 }, (_, at) => `k${at}d = v\n`).join("");
    return `[a]\n${values}\n[sops]\n${flat("", " = ")}`;
  }),
  fileOf("sections in INI", "ini", () => {
    const sections = Array.from({ length: maxParts - 100 }, (_, at) => `[s${at}d]\n`).join("");
    return `${sections}[sops]\n${flat("", " = ")}`;
  }),
  fileOf(`${maxParts} lines in dotenv`, "dotenv", () => `${"ad=b\n".repeat(maxParts - 100)}${flat("sops_", "=")}`),
  {
    reader: "lib/sops/encryption-rule.ts",
    name: "keys for an expression that is slow for each character",
    memoryMiB: 200,
    make: async () => {
      const more = { encrypted_regex: "(a?){200}(b?){200}$c" };
      const bytes = Buffer.from(`{"${"a".repeat(8_000)}":"","${"b".repeat(8_000)}":"","sops":${metadata(more)}}`);
      return () => verifyFile(bytes, "json", keys, signal).catch(messageOf);
    },
  },
  {
    reader: "lib/sops/keys/age-x25519.ts",
    name: `${maxTries} pairs of a recipient and an identity`,
    memoryMiB: 50,
    make: async () => {
      const [identity = ""] = identities("first");
      const share = Buffer.alloc(32, 9).toString("base64").replace(/=+$/, "");
      const stanza = `-> X25519 ${share}\n${"A".repeat(43)}\n`;
      const head = `age-encryption.org/v1\n${stanza.repeat(maxTries / 64)}--- ${"A".repeat(43)}\n`;
      const enc = armor.encode(Buffer.from(`${head}${"x".repeat(64)}`));
      const source = ageKeys(Array.from({ length: 64 }, () => identity));
      return () => Promise.resolve(source.open({ kind: "age", recipient: "age1", enc }, signal)).catch(messageOf);
    },
  },
];
