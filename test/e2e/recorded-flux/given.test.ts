import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { GitRepositorySpec, unsupportedGitRepositoryFields } from "../../../lib/api/git-repository.ts";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { unsupportedKustomizationFields } from "../../../lib/api/kustomization.ts";
import { KustomizationSpec } from "../../../lib/api/kustomization-spec.ts";
import { OciRepositorySpec, unsupportedOciRepositoryFields } from "../../../lib/api/oci-repository.ts";
import { sourcesAmong } from "../../../lib/flows/source/read-source.ts";
import { givenScenarios } from "./given-recordings.ts";
import { playedScenarios } from "./played-scenarios.ts";
import { fixtures } from "./recording.ts";

const waitingInputs = join(fixtures, "../flux-waiting");
/** A document that is no object says what else was done. */
const Input = z.looseObject({
  apiVersion: z.string().default(""),
  kind: z.string().default(""),
  spec: z.unknown().optional(),
});
const { played, waiting } = await givenScenarios();

/** Kinds that Sluice has, and whose recordings hold more than the player shows: the records of releases. */
const notPlayedYet: ReadonlySet<string> = new Set(["HelmRelease"]);

/** What of an input Sluice or the player does not have: whole kinds of Flux's, or fields that stall the object. */
async function missingIn(scenario: string): Promise<readonly string[]> {
  const documents = loadAll(await readFile(join(waitingInputs, `${scenario}.yaml`), "utf8"));
  const missing = documents.flatMap((document) => {
    const { apiVersion, kind, spec } = Input.parse(document);
    if (!apiVersion.includes(".toolkit.fluxcd.io/") || spec === undefined) return [];
    if (kind === "Kustomization")
      return named(kind, unsupportedKustomizationFields(KustomizationSpec.parse(spec), sourcesAmong(declaredKinds)));
    if (kind === "OCIRepository") return named(kind, unsupportedOciRepositoryFields(OciRepositorySpec.parse(spec)));
    if (kind === "GitRepository") return named(kind, unsupportedGitRepositoryFields(GitRepositorySpec.parse(spec)));
    return declaredKinds.some((declared) => declared.kind === kind) && !notPlayedYet.has(kind) ? [] : [kind];
  });
  return [...new Set(missing)].toSorted();
}

function named(kind: string, fields: readonly string[]): readonly string[] {
  return fields.map((field) => `${kind} ${field}`);
}

describe("the list of given scenarios", () => {
  test("says what each scenario that is not played waits for, and lists no other", async () => {
    const names = (await readdir(waitingInputs)).map((file) => file.replace(/\.yaml$/, ""));
    const found = await Promise.all(names.map(async (name) => [name, await missingIn(name)] as const));
    expect(waiting).toEqual(Object.fromEntries(found));
    expect(found.filter(([, missing]) => missing.length === 0)).toEqual([]);
  });

  test("has all that were given, and every scenario that waits for nothing is played", async () => {
    expect(played.length + Object.keys(waiting).length).toBe(59);
    const scenarios = await playedScenarios();
    expect(played.filter((name) => !scenarios.includes(name))).toEqual([]);
    expect(scenarios.filter((name) => name in waiting)).toEqual([]);
  });
});

test("docs/conformance.md says how many scenarios are played and how many wait", async () => {
  const document = await readFile(join(import.meta.dirname, "../../../docs/conformance.md"), "utf8");
  const [, said = ""] = document.split("## Recorded scenarios");
  const text = said.replaceAll(/\s+/g, " ");
  expect(text).toContain(` ${(await playedScenarios()).length} scenarios were recorded`);
  expect(text).toContain(
    ` ${Object.keys(waiting).length} more scenarios need a kind or field that Sluice does not have yet`,
  );
});
