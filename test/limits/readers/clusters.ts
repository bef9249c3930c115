import { messageOf } from "../../../lib/core/failure.ts";
import { maxLongIntegers, parseJson } from "../../../lib/core/json.ts";
import { maxJsonParts } from "../../../lib/core/json-text.ts";
import { maxAnswerBytes, remoteLimits } from "../../../lib/kube/answer-limits.ts";
import { parseList } from "../../../lib/kube/list-answer.ts";
import { maxStoredKubeconfigBytes, readStoredKubeconfig } from "../../../lib/kube/secret-kubeconfig.ts";
import { maxEventBytes } from "../../../lib/kube/watch-events.ts";
import type { WorstInput } from "../worst-input.ts";

const signal = new AbortController().signal;

/** A text of about this many bytes that repeats a part. */
function filled(begin: string, part: string, end: string, bytes: number): string {
  return begin + part.repeat(Math.floor((bytes - begin.length - end.length) / part.length)) + end;
}

function listOf(name: string, text: () => string, memoryMiB: number): WorstInput {
  return {
    reader: "lib/kube/list-answer.ts",
    name,
    memoryMiB,
    make: async () => {
      const answer = text();
      return () => parseList(answer, signal).catch(messageOf);
    },
  };
}

function jsonOf(name: string, text: () => string, memoryMiB: number): WorstInput {
  return {
    reader: "lib/core/json.ts",
    name,
    memoryMiB,
    make: async () => {
      const answer = text();
      return async () => {
        try {
          return parseJson(answer);
        } catch (error) {
          return messageOf(error);
        }
      };
    },
  };
}

function kubeconfigOf(name: string, text: string): WorstInput {
  return {
    reader: "lib/kube/secret-kubeconfig.ts",
    name,
    memoryMiB: 64,
    make: async () => () =>
      readStoredKubeconfig({ secret: "a", key: "value", id: "a", version: "1", bytes: Buffer.from(text) }).catch(
        messageOf,
      ),
  };
}

/** What an API server answers, and kubeconfigs that are read from Secrets. */
export const clusterReaders: readonly WorstInput[] = [
  jsonOf("100,000 empty objects", () => filled("[", "{},", "1]", 3 * (maxJsonParts / 2)), 128),
  jsonOf("50,000 numbers of 19 digits", () => filled("[", "1234567890123456789,", "1]", 20 * maxLongIntegers), 128),
  jsonOf(
    "50,000 objects with a field of a long number",
    () => filled("[", '{"a":1234567890123456789},', "1]", 26 * maxLongIntegers),
    128,
  ),
  jsonOf("more long numbers than are read", () => filled("[", "1234567890123456789,", "1]", 19 * maxJsonParts), 128),
  jsonOf(
    "8 MiB of space and a number of 19 digits",
    () => `[${" ".repeat(remoteLimits.answer)}1234567890123456789]`,
    64,
  ),
  jsonOf("an event of 16 MiB of empty objects", () => filled("[", "{},", "{}]", maxEventBytes), 64),
  jsonOf("an answer of 8 MiB of brackets", () => "[".repeat(remoteLimits.answer), 64),
  jsonOf("an answer of 64 MiB, a string of escapes", () => filled('["', "\\u00e9", '"]', maxAnswerBytes), 256),
  listOf("64 MiB of empty items", () => filled('{"items":[', "{},", "{}]}", maxAnswerBytes), 256),
  listOf(
    "64 MiB of items with many fields",
    () => filled('{"items":[', `{${filled("", '"a":{},', '"b":1', 1024 * 1024)}},`, "{}]}", maxAnswerBytes),
    1_024,
  ),
  kubeconfigOf("a list of numbers", filled("a: [", "1,", "1]", maxStoredKubeconfigBytes)),
  kubeconfigOf("contexts", filled("contexts: [", "{name: a, context: {cluster: a}},", "]", maxStoredKubeconfigBytes)),
];
