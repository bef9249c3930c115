import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { differenceRules, differencesOf, restoringSettings } from "../../../../cli/migration/differences.ts";
import { readSettings } from "../../../../functions/settings/read-settings.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";

const root = join(import.meta.dirname, "../../../..");

const kustomization = (spec: object): LiveObject => ({
  apiVersion: "kustomize.toolkit.fluxcd.io/v1",
  kind: "Kustomization",
  metadata: { name: "apps", namespace: "apps", uid: "1" },
  spec: { interval: "1h", prune: false, sourceRef: { kind: "GitRepository", name: "fleet" }, ...spec },
});

/** The anchors of a page, as GitHub makes them. */
async function anchors(page: string): Promise<readonly string[]> {
  const text = await readFile(join(root, page), "utf8");
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^a-z0-9 _-]/g, "")
      .replaceAll(" ", "-"),
  );
}

test.each(differenceRules.map(({ see, settings = {} }) => ({ see, settings })))(
  "the difference in $see has its section and settings that Sluice takes",
  async ({ see, settings }) => {
    const [page = "", anchor = ""] = see.split("#");
    expect(["", ...(await anchors(page))]).toContain(anchor);
    expect(readSettings(JSON.stringify(settings))).not.toHaveProperty("faults");
  },
);

test("only what the cluster has is said to differ", () => {
  const of = (spec: object) => differencesOf([kustomization(spec)], new Set()).map(({ see }) => see);
  expect(of({})).not.toContain("docs/differences-from-flux.md#sops");
  expect(of({ decryption: { provider: "sops" } })).toContain("docs/differences-from-flux.md#sops");
  expect(differencesOf([], new Set())).toEqual([]);
});

test("a flag that the controllers set counts, whatever Sluice's default is", () => {
  const objects = [kustomization({ wait: true })];
  const settings = (...flags: readonly string[]) => restoringSettings(differencesOf(objects, new Set(flags)), {});
  expect(settings()).toMatchObject({ "concurrent-ssa": 4, "feature-gates": { CancelHealthCheckOnNewRevision: false } });
  const given = settings("concurrent-ssa", "feature-gates.CancelHealthCheckOnNewRevision");
  expect(Object.keys(given)).toEqual(["explain-health-failures"]);
});

test("the settings that restore Flux's way keep the gates that the controllers have", () => {
  const differences = differencesOf([kustomization({ wait: true })], new Set());
  expect(restoringSettings(differences, { "feature-gates": { ExternalArtifact: true } })["feature-gates"]).toEqual({
    ExternalArtifact: true,
    CancelHealthCheckOnNewRevision: false,
  });
});
