import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { repeatedTimeoutMs } from "../../deadline.ts";
import { mayHaveOwnControlPlane } from "../../real/own-control-plane.ts";
import { builtWholeFlux } from "../flux-recorder/built-flux.ts";
import { knownDifferences } from "./known-differences.ts";
import { differencesOf, type Scene } from "./play-scenario.ts";
import { scenarios } from "./scenarios/scenarios.ts";
import { startScene } from "./scene.ts";

const { signal } = new AbortController();
const built = await builtWholeFlux();
const missing = built === undefined || !mayHaveOwnControlPlane();
const needs =
  "needs SLUICE_FLUX_ALL_CONTROLLERS, SLUICE_FLUX_ALL_CRDS and SLUICE_REAL_KUBECONFIG: test/interop/fleet/README.md";
const table = scenarios.map((scenario, at) => ({ ...scenario, key: `scenario-${at}` }));

describe.skipIf(missing)(
  `source-controller and Sluice, with the same sources and hosts${missing ? ` (${needs})` : ""}`,
  () => {
    const open = new AsyncDisposableStack();
    let scene: Scene;

    beforeAll(async () => {
      if (built !== undefined) scene = await startScene(built, open, signal);
    });
    afterAll(() => open.disposeAsync());

    test.each(table)(
      "leave the same statuses and events but for the known differences: $name",
      async ({ key, ...scenario }) => {
        const differences = await differencesOf(scenario, key, scene, signal);
        const known = knownDifferences[scenario.name] ?? {};
        const unknown = differences.filter(({ step }) => known[step] === undefined);
        expect(unknown, "differences without an entry in known-differences.ts").toEqual([]);
        const found = new Set(differences.map(({ step }) => step));
        const gone = Object.keys(known).filter((step) => !found.has(step));
        expect(gone, "entries of known-differences.ts that no longer differ").toEqual([]);
      },
      repeatedTimeoutMs(scenarios.length),
    );

    test("no two steps of a scenario have the same name, and a story has at most six", () => {
      const wrong = scenarios.filter(({ isStory, steps }) => {
        const names = new Set(steps.map(({ what }) => what));
        return names.size < steps.length || (isStory === true && steps.length > 6);
      });
      expect(wrong.map(({ name }) => name)).toEqual([]);
    });

    test("each known difference is of a step, and names a part of docs/differences-from-flux.md or is open", async () => {
      const page = await readFile(join(import.meta.dirname, "../../../docs/differences-from-flux.md"), "utf8");
      const known = Object.entries(knownDifferences).flatMap(([name, steps]) =>
        Object.entries(steps).map(([step, why]) => ({ name, step, why })),
      );
      const wrong = known.filter(({ name, step, why }) => {
        const steps = scenarios.find((scenario) => scenario.name === name)?.steps ?? [];
        return !steps.some(({ what }) => what === step) || ("part" in why && !page.includes(`### ${why.part}\n`));
      });
      expect(wrong).toEqual([]);
    });
  },
);
