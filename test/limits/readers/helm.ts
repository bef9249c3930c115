import { messageOf } from "../../../lib/core/failure.ts";
import { readIndex } from "../../../lib/sources/helm/chart-index.ts";
import { defaultIndexLimits, maxPieceBytes } from "../../../lib/sources/helm/index-limits.ts";
import type { WorstInput } from "../worst-input.ts";

const signal = new AbortController().signal;
const filled = (part: string, bytes: number): string => part.repeat(Math.floor(bytes / part.length));
const reading = (text: string) => {
  const bytes = Buffer.from(text);
  return () => readIndex(bytes, defaultIndexLimits, signal).catch(messageOf);
};
const { maxBytes, maxVersions } = defaultIndexLimits;
const reader = "lib/sources/helm/chart-index.ts";
const entry = "  - {name: a, version: 1.0.0, urls: [a]}\n";

/** The worst inputs of what reads indexes of Helm repositories. */
export const helmReaders: readonly WorstInput[] = [
  {
    reader,
    name: `${maxVersions} versions of one chart`,
    memoryMiB: 250,
    make: async () => reading(`apiVersion: v1\nentries:\n  a:\n${entry.repeat(maxVersions)}`),
  },
  {
    reader,
    name: "50 MiB of versions in JSON",
    memoryMiB: 450,
    make: async () => {
      const one = `{"name":"a","version":"1.0.0","description":"${"x".repeat(900)}"},`;
      return reading(`{"apiVersion":"v1","entries":{"a":[${filled(one, maxBytes - 1_100)}null]}}`);
    },
  },
  {
    reader,
    name: "50 MiB of empty lines",
    memoryMiB: 100,
    make: async () => reading(`apiVersion: v1\n${"\n".repeat(maxBytes - 20)}`),
  },
  {
    reader,
    name: "lists in lists, as many as are read at once",
    memoryMiB: 350,
    make: async () => reading(`serverInfo: [${filled("[],", maxPieceBytes - 30)}[]]\n`),
  },
  {
    reader,
    name: "a long text with many aliases in one version",
    memoryMiB: 100,
    make: async () => {
      const long = "x".repeat(500_000);
      return reading(
        `apiVersion: v1\nentries:\n  a:\n  - {name: a, version: 1.0.0, home: &k ${long}, keywords: [${filled("*k ,", 3_600)}]}\n`,
      );
    },
  },
  {
    reader: "lib/manifests/go-yaml/keys-set-twice.ts",
    name: "keys twice, with as many spaces behind them as are read at once",
    memoryMiB: 100,
    make: async () => {
      const key = `? a${" ".repeat(maxPieceBytes / 2 - 100)}#\n    : b\n`;
      return reading(`apiVersion: v1\nentries:\n  app:\n  - ${key}    ${key}`);
    },
  },
  {
    reader: "lib/manifests/go-yaml/keys-set-twice.ts",
    name: "as many keys that are there twice as are read at once",
    memoryMiB: 350,
    make: async () => reading(`serverInfo: {${filled("a: ,", maxPieceBytes - 30)}}\n`),
  },
  {
    reader: "lib/manifests/go-yaml/go-yaml-fault.ts",
    name: "a list of lists without an end, as many as are read at once",
    memoryMiB: 350,
    make: async () => reading(`serverInfo: [${filled("[],", maxPieceBytes - 30)}[]\n`),
  },
];
