import { expect, test } from "vitest";
import type { LiveObject, Metadata } from "../../../../lib/core/manifest.ts";
import { standingOf } from "../../../../lib/flows/kustomization/standing.ts";
import { noCluster } from "../../../doubles/no-cluster.ts";

const { signal } = new AbortController();
const claim = { owner: "Kustomization/team/app", ownerUid: "uid-app" };

function standingWith(metadata: Partial<Metadata> | undefined, spec: object = { prune: true }) {
  const live: LiveObject | undefined = metadata && {
    apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    kind: "Kustomization",
    metadata: { name: "app", namespace: "team", uid: "uid-app", ...metadata },
    spec: { interval: "1m", path: ".", sourceRef: { kind: "OCIRepository", name: "repo" }, ...spec },
  };
  return standingOf(claim, { cluster: { ...noCluster, get: async () => live } }, signal);
}

const deletionTimestamp = "2026-01-01T00:00:00Z";

test.each([
  ["lives", {}, undefined, "alive"],
  ["is not there", undefined, undefined, "gone"],
  ["is another one of its name, made anew", { uid: "uid-new" }, undefined, "gone"],
  ["is being deleted with all it has", { deletionTimestamp }, undefined, "going"],
  [
    "is being deleted and leaves what it has",
    { deletionTimestamp },
    { prune: true, deletionPolicy: "Orphan" },
    "alive",
  ],
] as const)("the owner of a claim that %s is told from the others", async (_, metadata, spec, standing) => {
  expect(await standingWith(metadata, spec)).toBe(standing);
});
