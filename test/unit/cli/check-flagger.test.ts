import { expect, test } from "vitest";
import { checkFlagger } from "../../../cli/check-flagger.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { ApiError, type Cluster } from "../../../lib/core/ports/cluster.ts";
import { noCluster } from "../../doubles/no-cluster.ts";
import { fakeSession } from "./fake-session.ts";

function deployment(name: string, image: string, replicas?: number, label?: string): LiveObject {
  const labels = label === undefined ? {} : { "app.kubernetes.io/name": label };
  return {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace: "mesh", uid: name, labels } },
    spec: { ...(replicas === undefined ? {} : { replicas }), template: { spec: { containers: [{ image }] } } },
  };
}

function checking(list: Cluster["list"]) {
  const fake = fakeSession([]);
  return { fake, check: () => checkFlagger({ ...fake, cluster: { ...noCluster, list } }) };
}

test("a running Flagger is recognised by its label or its image, and gives a warning, with or without leader election", async () => {
  const { check, fake } = checking(async () => [
    deployment("flagger", "ghcr.io/fluxcd/flagger:1.44.0", 2),
    deployment("mirrored", "registry.example.com:5000/mirror/flagger@sha256:0", undefined),
    deployment("renamed", "registry.example.com/tools:7", 1, "flagger"),
    deployment("stopped", "ghcr.io/fluxcd/flagger:1.44.0", 0),
    deployment("loadtester", "ghcr.io/fluxcd/flagger-loadtester:0.36.0", 1),
    deployment("web", "web:1", 3),
  ]);
  expect((await check())?.map(({ name, replicas }) => `${name} ${replicas}`)).toEqual([
    "flagger 2",
    "mirrored 1",
    "renamed 1",
  ]);
  expect(fake.output.err.split("\n")[1]).toBe(
    "⚠️ Deployment mesh/flagger runs Flagger with 2 replicas: it and Sluice take steps of the same Canaries; stop it with kubectl -n mesh scale deployment flagger --replicas=0",
  );
});

test("nothing is printed about Flagger if it does not run", async () => {
  const { check, fake } = checking(async () => [deployment("web", "web:1")]);
  expect([await check(), fake.output.err]).toEqual([[], ""]);
});

test("a missing right to list Deployments does not fail the check", async () => {
  const message = "deployments.apps is forbidden";
  const { check, fake } = checking(() => Promise.reject(new ApiError({ code: 403, reason: "Forbidden", message })));
  expect(await check()).toBeUndefined();
  expect(fake.output.err).toBe(`⚠️ not known whether Flagger runs: ${message}\n`);
});
