import { maxMessageBytes } from "../../../lib/core/cut-text.ts";
import { messageOf } from "../../../lib/core/failure.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import { maxMessageChars } from "../../../lib/kube/api-answer.ts";
import { substituteObjects } from "../../../lib/manifests/build/substitute-objects.ts";
import { encryptedSources, maxKustomizationBytes } from "../../../lib/manifests/decrypt/encrypted-sources.ts";
import { sealedFiles } from "../../../lib/manifests/decrypt/sealed-files.ts";
import { maskSecrets } from "../../../lib/manifests/secrets.ts";
import { maxSubstitutedBytes } from "../../../lib/manifests/substitute/evaluate.ts";
import { maxGlobBytes, maxGlobbedBytes } from "../../../lib/manifests/substitute/glob.ts";
import { attemptPlainSafely, parseOutputSafely, valuesOfFileSafely } from "../../../lib/manifests/thread/off-thread.ts";
import { inTurns } from "../../../lib/sops/steps.ts";
import { inGateOrDeep } from "../../size.ts";
import type { WorstInput } from "../worst-input.ts";

const signal = new AbortController().signal;
/** What a thread that reads manifests may take, beside the process. */
const threadMiB = 700;

function substituting(
  reader: string,
  name: string,
  source: string,
  values: Readonly<Record<string, string>>,
  objects = 1,
): WorstInput {
  return {
    reader: `lib/manifests/${reader}`,
    name,
    memoryMiB: threadMiB,
    make: async () => {
      const object = (at: number): JsonObject => ({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: `a${at}` },
        data: { a: source },
      });
      const all = Array.from({ length: objects }, (_, at) => object(at));
      const text = all.map((each) => JSON.stringify(each)).join("\n---\n");
      const variables = new Map(Object.entries(values));
      const postBuild = { variables, secrets: [], always: false, strict: true };
      const tree = { files: new Map<string, Uint8Array>(), folder: "" };
      return () => substituteObjects({ objects: all, text }, postBuild, tree, signal).catch(messageOf);
    },
  };
}

/** A file in which the place of an expression at fault is looked for. */
function placing(name: string, objectName: string, expression: string, file: () => string): WorstInput {
  return {
    reader: "lib/manifests/build/substitute-objects.ts",
    name,
    memoryMiB: threadMiB,
    make: async () => {
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: objectName }, data: { a: expression } };
      const postBuild = { variables: new Map<string, string>(), secrets: [], always: true, strict: true };
      const files = new Map([["a.yaml", Buffer.from(file())]]);
      const output = { objects: [object], text: JSON.stringify(object) };
      return () => substituteObjects(output, postBuild, { files, folder: "" }, signal).catch(messageOf);
    },
  };
}

/** A message of a cluster about a build with a Secret of 1 MiB, as large as the cluster takes one. */
function masking(name: string, text: string, valueOf: (at: number) => string): WorstInput {
  return {
    reader: "lib/manifests/secrets.ts",
    name,
    memoryMiB: threadMiB,
    make: async () => {
      const values: string[] = [];
      for (let bytes = 0; bytes < 1_048_576; bytes += values.at(-1)?.length ?? 0) values.push(valueOf(values.length));
      const data = Object.fromEntries(values.map((value, at) => [`k${at}`, value]));
      const manifests = [{ apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, stringData: data }];
      return async () => maskSecrets(text, { manifests, secrets: [] });
    },
  };
}

const megabyte = "a".repeat(1_048_576);

function plain(name: string, text: () => string): WorstInput {
  return {
    reader: "lib/manifests/read-document.ts",
    name,
    memoryMiB: threadMiB,
    make: async () => {
      const files = [{ path: "a.yaml", content: Buffer.from(text()) }];
      return () => attemptPlainSafely(files, {}, signal).catch(messageOf);
    },
  };
}

/** What is still read in the thread of the run. */
const hereBytes = 256 * 1024;
const filled = (part: string, bytes: number): string => part.repeat(Math.floor(bytes / part.length));

const sopsMiB = inGateOrDeep(2, 5);

const mac = `ENC[AES256_GCM,data:${"A".repeat(172)},iv:AAAA,tag:AAAA,type:str]`;

/** The worst inputs of what reads manifests, and the files that they come from. */
export const manifestReaders: readonly WorstInput[] = [
  substituting(
    "substitute/glob.ts",
    "many patterns of the greatest length",
    `\${v##*${"a".repeat(maxGlobBytes - 3)}b}`.repeat(700),
    { v: "a".repeat(maxGlobbedBytes) },
    10,
  ),
  substituting(
    "substitute/glob.ts",
    "a pattern that is compared beginning by beginning",
    `\${v##*${"?".repeat(maxGlobBytes - 3)}b*}`,
    { v: `é${"a".repeat(maxGlobbedBytes - 2)}` },
    10,
  ),
  substituting(
    "substitute/replace.ts",
    "every character of 1 MiB replaced, many times",
    "${v//a/}".repeat(20),
    { v: megabyte },
    10,
  ),
  substituting("substitute/evaluate.ts", "a value put in place of each character of another", "${v//a/${v}}", {
    v: megabyte,
  }),
  substituting(
    "substitute/evaluate.ts",
    "letters of 1 MiB changed",
    "${v^^}".repeat(2),
    { v: `é${megabyte}` },
    inGateOrDeep(2, 10),
  ),
  substituting(
    "substitute/template.ts",
    "as many expressions as an object holds",
    "${a}".repeat((maxSubstitutedBytes - 100) / 4),
    {
      a: "",
    },
  ),
  substituting(
    "substitute/template.ts",
    "as many expressions as are read at once",
    "${a}".repeat(32_000),
    { a: "b" },
    inGateOrDeep(20, 100),
  ),
  substituting("build/substitute-objects.ts", "a value of 1 MiB that is YAML of short lists", "${v}", {
    v: `[${"[],".repeat(300_000)}]`,
  }),
  placing(
    "a name of space, in a file of space",
    " ",
    "${v}",
    () => `kind: ConfigMap\n# name:${" ".repeat(2_000_000)}x\na: ${"${v}"}`,
  ),
  placing(
    "a name like the fields of a file",
    "name: ".repeat(33),
    "${v}",
    () => `kind: ConfigMap\n# ${filled("name: ", 2_000_000)}\na: ${"${v}"}`,
  ),
  masking(
    "values like the end of a text that was cut",
    `${"a".repeat(maxMessageChars)}x...`,
    (at) => `${"a".repeat(8_000)}b${at}`,
  ),
  masking("values like the whole text", "a".repeat(maxMessageBytes), (at) => `ab${"a".repeat(1_000 + at)}`),
  plain("short values, as many as are read at once", () => `a: [${filled("1,", hereBytes - 100)}1]\n`),
  plain("keys, as many as are read at once", () => Array.from({ length: 20_000 }, (_, at) => `k${at}: v\n`).join("")),
  plain("documents, as many as are read at once", () => filled("---\na: b\n", hereBytes - 100)),
  plain("short values, 8 MiB of them", () => `a: [${filled("1,", 8 * 1_048_576)}1]\n`),
  {
    reader: "lib/manifests/alias-bomb.ts",
    name: "aliases, as many as are read at once",
    memoryMiB: threadMiB,
    make: async () => {
      const files = [{ path: "a.yaml", content: Buffer.from(`a: &a b\nc: [${filled("*a,", hereBytes - 100)}]\n`) }];
      return () => attemptPlainSafely(files, {}, signal).catch(messageOf);
    },
  },
  {
    reader: "lib/manifests/parse-output.ts",
    name: "short values, as many as are read at once",
    memoryMiB: threadMiB,
    make: async () => {
      const text = `a: [${filled("1,", hereBytes - 100)}1]\n`;
      return () => parseOutputSafely(text, signal).catch(messageOf);
    },
  },
  {
    reader: "lib/manifests/decrypt/encrypted-sources.ts",
    name: "folders inside each other with a kustomization file each",
    memoryMiB: 200,
    make: async () => {
      const folders = new Set([""]);
      const files = new Map<string, Uint8Array>();
      for (let at = 0; at < 20_000; at++) {
        folders.add(`d${at}`);
        files.set(`d${at}/kustomization.yaml`, Buffer.from("resources: []"));
      }
      return () => inTurns(encryptedSources({ files, folders }, "", []), signal);
    },
  },
  {
    reader: "lib/manifests/decrypt/encrypted-sources.ts",
    name: `a kustomization file of ${maxKustomizationBytes} bytes`,
    memoryMiB: 200,
    make: async () => {
      const text = `a: [${filled("1,", maxKustomizationBytes - 100)}1]\n`;
      const tree = { files: new Map([["kustomization.yaml", Buffer.from(text)]]), folders: new Set([""]) };
      return () => inTurns(encryptedSources(tree, "", []), signal).catch(messageOf);
    },
  },
  {
    reader: "lib/manifests/sealed/sealed-parts.ts",
    name: "an artifact of 64 MiB in which a MAC is sought",
    memoryMiB: threadMiB,
    make: async () => {
      const file = Buffer.from(filled(`mac: ${mac.replace("str", "int")} ! \\x41\n`, 16 * 1_048_576));
      const small = Buffer.from(filled(`mac: ${mac.replace("str", "int")} ! \\x41\n`, 1_000_000));
      const files = new Map([
        ["a.yaml", file],
        ...Array.from({ length: 48 }, (_, at) => [`${at}.yaml`, small] as const),
      ]);
      return () => sealedFiles({ files }, new Set([mac]), signal).catch(messageOf);
    },
  },
  {
    reader: "lib/manifests/sealed/plain-values.ts",
    name: `a file of sops of ${sopsMiB} MiB`,
    memoryMiB: threadMiB,
    make: async () => {
      const text = Buffer.from(`a: [${filled("1,", sopsMiB * 1_048_576 - 100)}1]\n`);
      return () => valuesOfFileSafely({ encrypted: text, plain: text, format: "yaml" }, signal).catch(messageOf);
    },
  },
];
