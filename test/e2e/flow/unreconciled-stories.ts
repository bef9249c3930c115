import { describe, expect, test } from "vitest";
import { findCondition } from "../../../lib/api/condition.ts";
import { KustomizationStatus } from "../../../lib/api/kustomization-status.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { configMap } from "./sample-manifests.ts";
import { settle } from "./taking-along.ts";
import type { World } from "./world.ts";

/** A group of Flux for this world alone: definitions are of the whole cluster. */
const groupOf = (world: World): string => `${world.namespace}.toolkit.fluxcd.io`;

/** A kind as Flux defines those with a status: it begins with an observed generation of -1. */
async function define(world: World, kind: string): Promise<string> {
  const group = groupOf(world);
  const plural = `${kind.toLowerCase()}s`;
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const schema = {
    type: "object",
    properties: { spec: open, status: { ...open, default: { observedGeneration: -1 } } },
  };
  const version = { name: "v1", served: true, storage: true, subresources: { status: {} } };
  const definition: Manifest = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [{ ...version, schema: { openAPIV3Schema: schema } }],
    },
  };
  await world.cluster.apply(definition, { manager: "another-client", force: true }, world.signal);
  await expect.poll(() => world.cluster.resource({ group, kind }, world.signal)).toBeDefined();
  return `${group}/v1`;
}

async function release(world: World, name: string, spec = {}): Promise<Manifest> {
  return { apiVersion: `${groupOf(world)}/v1`, kind: "HelmRelease", metadata: { name }, spec };
}

async function told(world: World): Promise<readonly string[]> {
  return (await world.events("app")).filter((event) => event.includes("NotReconciled"));
}

const healthy = async (world: World) => {
  const { conditions = [] } = KustomizationStatus.parse(await world.status("app"));
  return findCondition(conditions, "Healthy");
};

/** What a controller says of `a`, for its present generation. */
async function say(world: World, status: "False" | "True"): Promise<void> {
  const ref = { group: groupOf(world), version: "v1", kind: "HelmRelease", namespace: world.namespace, name: "a" };
  const generation = (await world.cluster.get(ref, world.signal))?.metadata.generation ?? 0;
  const ready = { type: "Ready", status, reason: "Test", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
  const body = { status: { observedGeneration: generation, conditions: [ready] } };
  await world.cluster.patch(ref, { type: "merge", body }, { manager: "helm", subresource: "status" }, world.signal);
}

/** Objects of Flux's kinds that Sluice does not reconcile. */
export function unreconciledStories(name: string, newWorld: () => Promise<World>): void {
  describe(`objects of Flux kinds that Sluice does not reconcile on ${name}`, () => {
    test("are reported once, in one event, also after a restart and with a new revision", async () => {
      const world = await newWorld();
      await define(world, "HelmRelease");
      const [a, b] = await Promise.all([release(world, "a"), release(world, "b")]);
      await world.publish("v1", [configMap("x"), a, b]);
      await world.kustomization("app");
      await settle(world, "app");
      const { namespace } = world;
      const of = (each: string) => `HelmRelease/${namespace}/${each} (${groupOf(world)}/v1)`;
      const first =
        `Warning NotReconciled: Sluice does not reconcile 2 objects of this Kustomization: ${of("a")}, ${of("b")}. ` +
        "They are applied, and nothing else is done unless this cluster runs the controllers of their kinds";
      expect(await told(world)).toEqual([first]);
      await world.run("app");
      await world.publish("v2", [configMap("x", { k: "new" }), a, b]);
      await world.run("app");
      expect(await told(world)).toEqual([first]);
      await world.publish("v3", [a, b, await release(world, "c")]);
      await world.run("app");
      expect(await told(world)).toEqual([
        first,
        expect.stringContaining(`an object of this Kustomization: ${of("c")}. It is`),
      ]);
    });

    test("are reported again after they were removed and added again, and are not forgotten by a run that fails", async () => {
      const world = await newWorld();
      await define(world, "HelmRelease");
      const a = await release(world, "a");
      await world.publish("v1", [a]);
      await world.kustomization("app");
      await settle(world, "app");
      await world.publish("v2", [a, { apiVersion: "none.example.com/v1", kind: "None", metadata: { name: "x" } }]);
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      await world.publish("v3", [a]);
      await world.run("app");
      expect(await told(world)).toHaveLength(1);
      await world.publish("v4", [configMap("x")]);
      await world.run("app");
      await world.publish("v5", [a]);
      await world.run("app");
      expect(await told(world)).toHaveLength(2);
    });

    test("have unknown health, which keeps no Kustomization from being Ready", async () => {
      const world = await newWorld();
      await define(world, "HelmRelease");
      const revision = await world.publish("v1", [configMap("x"), await release(world, "a")]);
      await world.kustomization("app", { wait: true, timeout: "5m" });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      // Until then a controller of another installation may have come to it.
      world.clock.advance(20_000);
      expect(await world.run("app")).toMatchObject({ outcome: "applied" });
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      const message =
        `Health is not known of [HelmRelease/${world.namespace}/a status: 'Unknown': Sluice does not reconcile HelmRelease ` +
        `(${groupOf(world)}), and no other controller has worked on this object]`;
      expect(await healthy(world)).toMatchObject({ status: "Unknown", reason: "NotReconciled", message });
      const passed = async () => (await world.events("app")).filter((event) => event.includes("Health check passed"));
      expect(await passed()).toEqual([expect.stringContaining(`. ${message}`)]);
      // It is known by now: the next run does not wait.
      expect(await world.runDue("app")).toMatchObject({ outcome: "applied" });
      expect(await passed()).toHaveLength(1);
    });

    test("count by their status as soon as a controller has written one for their generation", async () => {
      const world = await newWorld();
      const apiVersion = await define(world, "HelmRelease");
      const { namespace } = world;
      await world.publish("v1", [await release(world, "a")]);
      const healthChecks = [{ apiVersion, kind: "HelmRelease", name: "a", namespace }];
      await world.kustomization("app", { healthChecks, timeout: "5m" });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      await say(world, "False");
      world.clock.advance(60_000);
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      await say(world, "True");
      expect(await world.run("app")).toMatchObject({ outcome: "applied" });
      expect(await healthy(world)).toMatchObject({ status: "True", reason: "Succeeded" });
    });

    test("are unknown again if a controller has handled an earlier generation and not the current one", async () => {
      const world = await newWorld();
      await define(world, "HelmRelease");
      await world.publish("v1", [await release(world, "a")]);
      await world.kustomization("app");
      await settle(world, "app");
      await say(world, "True");
      await world.kustomization("app", { wait: true, timeout: "5m" });
      expect(await world.run("app")).toMatchObject({ outcome: "applied" });
      await world.publish("v2", [await release(world, "a", { values: 1 })]);
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      world.clock.advance(20_000);
      expect(await world.run("app")).toMatchObject({ outcome: "applied" });
      expect(await healthy(world)).toMatchObject({ status: "Unknown", reason: "NotReconciled" });
    });

    test("are judged by the Kustomization's own expressions if it has some for the kind", async () => {
      const world = await newWorld();
      const apiVersion = await define(world, "HelmRelease");
      await world.publish("v1", [await release(world, "a")]);
      const rule = { apiVersion, kind: "HelmRelease", current: "has(status.conditions)" };
      await world.kustomization("app", { wait: true, timeout: "30s", healthCheckExprs: [rule] });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      world.clock.advance(30_000);
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      expect(await world.ready("app")).toContain(`HelmRelease/${world.namespace}/a status: 'InProgress'`);
    });
  });
}
