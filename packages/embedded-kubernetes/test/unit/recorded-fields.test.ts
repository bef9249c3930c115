import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "../../src/core/json.ts";
import { type Replayed, replay, type Step } from "./replay-fields.ts";

/** Cases whose outcome is decided outside these functions, by what decides it. */
const decidedElsewhere = new Map([
  ["cluster-scoped", "the strategy of Namespace adds a finalizer"],
  ["pod", "admission adds tolerations and a priority"],
  ["secret-string-data", "the rules move stringData to data"],
  ["json-test-resource-version", "the store allots resourceVersions"],
  ["strategic-conditions", "the strategy of /status keeps the stored spec"],
  ["update-manager-from-user-agent", "the server reads the header"],
]);

function casesOf(family: "apply" | "patch"): readonly string[] {
  const files = readdirSync(new URL(`../fixtures/cluster/${family}`, import.meta.url));
  return files.map((file) => file.slice(0, -".json".length)).filter((name) => !decidedElsewhere.has(name));
}

/** managedFields as the recordings have them: without times, sorted by identity. */
function ownersIn(object: JsonObject): readonly JsonObject[] {
  const metadata = object["metadata"];
  const list = isJsonObject(metadata) ? metadata["managedFields"] : undefined;
  const entries = Array.isArray(list) ? list.filter((entry) => isJsonObject(entry)) : [];
  return entries
    .map((entry) => Object.fromEntries(Object.entries(entry).filter(([field]) => field !== "time")))
    .sort((a, b) => (identity(a) < identity(b) ? -1 : 1));
}

function identity(entry: JsonObject): string {
  return JSON.stringify([entry["operation"], entry["manager"], entry["apiVersion"], entry["subresource"]]);
}

/** The error of a refused write and the recorded one; nothing to compare where the refusal is decided elsewhere. */
function refusals(step: Step, outcome: Replayed): Compared {
  if (outcome.kind === "stored") return { actual: undefined, recorded: undefined };
  const { code, message } = outcome.error;
  return { actual: { code, message }, recorded: { code: step.status, message: step.answer["message"] } };
}

/** Who owns what; the patch family and some steps were recorded without it, or with the managers' names only. */
function owners(step: Step, outcome: Replayed): Compared {
  const recorded = ownersIn(step.answer);
  const isKept = step.keep.length === 0 || step.keep.some((kept) => kept.startsWith("metadata.managedFields"));
  const isApply = step.contentType === "application/apply-patch+yaml";
  if (!isStored(step, outcome) || !isKept || (recorded.length === 0 && !isApply)) return { actual: [], recorded: [] };
  const words = new Set(recorded.flatMap((entry) => Object.keys(entry)));
  return { actual: ownersIn(outcome.object).map((entry) => picked(entry, words)), recorded };
}

/** `spec` and `data` as far as they were recorded and nothing in them was allotted. */
function contents(step: Step, outcome: Replayed): { readonly actual: JsonObject; readonly recorded: JsonObject } {
  if (!isStored(step, outcome)) return { actual: {}, recorded: {} };
  const isKnown = (value: Json | undefined): boolean => value !== undefined && !JSON.stringify(value).includes('"<');
  const fields = ["spec", "data"].filter((field) => isKnown(step.answer[field]));
  return { actual: outcome.object, recorded: picked(step.answer, new Set(fields)) };
}

interface Compared {
  readonly actual: unknown;
  readonly recorded: unknown;
}

function isStored(step: Step, outcome: Replayed): outcome is Extract<Replayed, { kind: "stored" }> {
  return step.status < 300 && outcome.kind === "stored";
}

function picked(object: JsonObject, fields: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([field]) => fields.has(field)));
}

function check(step: Step, outcome: Replayed): void {
  const refusal = refusals(step, outcome);
  expect(refusal.actual).toEqual(refusal.recorded);
  const owner = owners(step, outcome);
  expect(owner.actual).toEqual(owner.recorded);
  const content = contents(step, outcome);
  expect(content.actual).toMatchObject(content.recorded);
}

describe("recorded writes, replayed through the pure functions only", () => {
  test.each(casesOf("apply"))("apply: %s is merged, owned and refused as recorded", (name) => {
    replay(`apply/${name}`, check);
  });

  test.each(casesOf("patch"))("patch: %s has the recorded result", (name) => {
    replay(`patch/${name}`, check);
  });
});
