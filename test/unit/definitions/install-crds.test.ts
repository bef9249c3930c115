import { describe, expect, test } from "vitest";
import { definedKinds as kinds } from "../../../lib/api/kinds/declared-kinds.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { installCrds } from "../../../lib/definitions/install-crds.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";

const never = new AbortController().signal;
const name = "kustomizations.kustomize.toolkit.fluxcd.io";

interface Found {
  readonly versions: readonly string[];
  readonly manager: string;
}

function definition(found: Found): LiveObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name,
      uid: "uid",
      generation: 1,
      managedFields: [{ manager: found.manager, operation: "Apply", apiVersion: "apiextensions.k8s.io/v1" }],
    },
    spec: { versions: found.versions.map((version) => ({ name: version, served: true })) },
    status: { conditions: [{ type: "Established", status: "True" }] },
  };
}

/** Names of the definitions that are applied where this one is there and no other, and what is said of them. */
async function installed(found: Found | undefined): Promise<{ applied: string[]; said: string[] }> {
  const live = new Map<string, LiveObject>(found === undefined ? [] : [[name, definition(found)]]);
  const applied: string[] = [];
  const said: string[] = [];
  const cluster: Pick<Cluster, "get" | "apply"> = {
    get: async (ref) => live.get(ref.name),
    apply: async (manifest) => {
      const before = live.get(manifest.metadata.name);
      applied.push(manifest.metadata.name);
      const generation = before === undefined ? 1 : 2;
      const object = definition({ versions: ["v1"], manager: "sluice" });
      const after = { ...object, metadata: { ...object.metadata, name: manifest.metadata.name, generation } };
      live.set(manifest.metadata.name, after);
      return { object: after, created: before === undefined, warnings: [] };
    },
  };
  const log = { ...silentLog, info: (message: string) => said.push(message) };
  await installCrds(cluster, { clock: systemClock, log }, never);
  return { applied, said };
}

describe("installing the custom resource definitions", () => {
  const other = kinds.map(({ plural, group }) => `${plural}.${group}`).filter((each) => each !== name);

  test("all of them are installed on a cluster without them, and logged", async () => {
    const { applied, said } = await installed(undefined);
    expect(applied.toSorted()).toEqual([name, ...other].toSorted());
    expect(said).toEqual(kinds.map(() => "custom resource definition installed"));
  });

  test("all of them are sent before the first is waited for, so that the API server establishes them at the same time", async () => {
    const sent = new Set<string>();
    const cluster: Pick<Cluster, "get" | "apply"> = {
      get: async (ref) => {
        if (!sent.has(ref.name)) return undefined;
        const object = definition({ versions: ["v1"], manager: "sluice" });
        return sent.size === kinds.length ? object : { ...object, status: {} };
      },
      apply: async (manifest) => {
        sent.add(manifest.metadata.name);
        return { object: definition({ versions: ["v1"], manager: "sluice" }), created: true, warnings: [] };
      },
    };
    await installCrds(cluster, { clock: steppedClock(), log: silentLog }, never);
    expect(sent.size).toBe(kinds.length);
  });

  test.each([
    { found: "Flux's present one", versions: ["v1"], manager: "flux", renewed: false },
    { found: "Flux's of 2021", versions: ["v1beta1", "v1beta2"], manager: "flux", renewed: true },
    { found: "our own", versions: ["v1", "v1beta2", "v1beta1"], manager: "sluice", renewed: true },
    { found: "that of a newer Sluice", versions: ["v2", "v1"], manager: "sluice", renewed: false },
  ])("$found is renewed: $renewed", async ({ versions, manager, renewed }) => {
    const { applied, said } = await installed({ versions, manager });
    expect(applied.includes(name)).toBe(renewed);
    expect(said.includes("custom resource definition renewed")).toBe(renewed);
  });
});
