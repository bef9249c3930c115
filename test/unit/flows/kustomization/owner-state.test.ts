import { expect, test } from "vitest";
import type { LiveObject, Metadata } from "../../../../lib/core/manifest.ts";
import { ownerStateOf } from "../../../../lib/flows/kustomization/other-owners.ts";
import { noHome } from "../../../doubles/no-cluster.ts";

const homeUid = "uid-home";
const { signal } = new AbortController();
const claim = { owner: "Kustomization/team/app", ownerUid: "uid-app" };

function stateWith(metadata: Partial<Metadata> | undefined, spec: object = { prune: true }) {
  const live: LiveObject | undefined = metadata && {
    apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    kind: "Kustomization",
    metadata: { name: "app", namespace: "team", uid: "uid-app", ...metadata },
    spec: { interval: "1m", path: ".", sourceRef: { kind: "OCIRepository", name: "repo" }, ...spec },
  };
  return ownerStateOf(
    claim,
    { home: { ...noHome, get: async () => live }, homeUid, owner: { uid: "uid-own", clusterUid: homeUid } },
    signal,
  );
}

const deletionTimestamp = "2026-01-01T00:00:00Z";

test.each([
  ["lives", {}, undefined, "alive"],
  ["does not exist", undefined, undefined, "gone"],
  ["was recreated under its name", { uid: "uid-new" }, undefined, "gone"],
  ["is being deleted with all it has", { deletionTimestamp }, undefined, "deleting"],
  [
    "is being deleted and leaves its objects",
    { deletionTimestamp },
    { prune: true, deletionPolicy: "Orphan" },
    "alive",
  ],
] as const)("the owner of a claim that %s is told apart from other owners", async (_, metadata, spec, state) => {
  expect(await stateWith(metadata, spec)).toBe(state);
});

test("a claim from another home cluster counts, because its owner cannot be looked up here", async () => {
  const foreign = { ...claim, owner: "Kustomization/team/app/uid-of-another-home" };
  const ctx = { home: noHome, homeUid, owner: { uid: "uid-own", clusterUid: "uid-target" } };
  expect(await ownerStateOf(foreign, ctx, signal)).toBe("alive");
});

test("a claim of an unknown kind of owner counts, because its owner cannot be looked up", async () => {
  const ctx = { home: noHome, homeUid, owner: { uid: "uid-own", clusterUid: homeUid } };
  expect(await ownerStateOf({ ...claim, owner: "Widget/team/app" }, ctx, signal)).toBe("alive");
});

test.each([
  ["lives", {}, {}, "alive"],
  ["does not exist", undefined, {}, "gone"],
  ["is being deleted with its release", { deletionTimestamp }, {}, "deleting"],
  ["is being deleted while it is suspended, and leaves its release", { deletionTimestamp }, { suspend: true }, "alive"],
] as const)("a claim of a HelmRelease that %s is told apart from others", async (_, metadata, spec, state) => {
  const live: LiveObject | undefined = metadata && {
    apiVersion: "helm.toolkit.fluxcd.io/v2",
    kind: "HelmRelease",
    metadata: { name: "app", namespace: "team", uid: "uid-app", ...metadata },
    spec,
  };
  const home = { ...noHome, get: async () => live };
  const ctx = { home, homeUid, owner: { uid: "uid-own", clusterUid: homeUid } };
  expect(await ownerStateOf({ ...claim, owner: "HelmRelease/team/app" }, ctx, signal)).toBe(state);
});

test("an owner that applies to another cluster is looked up in its home cluster", async () => {
  const own = { ...claim, owner: `Kustomization/team/app/${homeUid}` };
  const home = { ...noHome, get: async () => undefined };
  const ctx = { home, homeUid, owner: { uid: "uid-own", clusterUid: "uid-target" } };
  expect(await ownerStateOf(own, ctx, signal)).toBe("gone");
});
