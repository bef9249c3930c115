import { describe, expect, test } from "vitest";
import { findCondition } from "../../../lib/api/condition.ts";
import { KustomizationStatus } from "../../../lib/api/kustomization-status.ts";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import { configMap, service } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const kustomize = `${kustomizeGroup}/v1`;

/** An object whose status a test writes: a Kustomization that no flow reconciles. */
const probe = (name: string) => ({
  apiVersion: kustomize,
  kind: "Kustomization",
  metadata: { name },
  spec: { interval: "1h", prune: true, sourceRef: { kind: "OCIRepository", name: "none" } },
});

async function attempt(world: World, name: string, lastAttemptedRevision: string): Promise<void> {
  const { generation = 0 } = (await world.get("Kustomization", name, kustomize))?.metadata ?? {};
  const body = { status: { observedGeneration: generation, lastAttemptedRevision } };
  await world.patch(name, body, { manager: "test", subresource: "status" });
}

async function saysOf(world: World, type: string): Promise<string> {
  const { conditions } = KustomizationStatus.parse(await world.status("app"));
  const found = findCondition(conditions ?? [], type);
  return found === undefined ? "none" : `${found.status} ${found.reason}: ${found.message}`;
}

/** What spec.healthCheckExprs decides. */
export function healthExpressionStories(name: string, newWorld: () => Promise<World>): void {
  describe(`health expressions on ${name}`, () => {
    const ofProbes = {
      apiVersion: kustomize,
      kind: "Kustomization",
      inProgress: "has(status.lastAttemptedRevision) && status.lastAttemptedRevision == 'creating'",
      failed: "has(status.lastAttemptedRevision) && status.lastAttemptedRevision == 'broken'",
      current: "has(status.lastAttemptedRevision) && status.lastAttemptedRevision == 'running'",
    };

    test("replace the built-in rules: in progress, failed, current (111)", async () => {
      const world = await newWorld();
      const revision = await world.publish("v1", [probe("main"), configMap("a")]);
      await world.kustomization("app", { wait: true, healthCheckExprs: [ofProbes] });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      await attempt(world, "main", "creating");
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      await attempt(world, "main", "broken");
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      const subject = `Kustomization/${world.namespace}/main`;
      expect(await saysOf(world, "Healthy")).toBe(
        `False HealthCheckFailed: failed early due to stalled resources: [${subject} status: 'Failed']`,
      );
      await attempt(world, "main", "running");
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
    });

    test("that read a missing field time out, and the message names the field (109)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a", { k: "v" }), service(80)]);
      const rules = (current: string) => ({
        wait: true,
        timeout: "30s",
        healthCheckExprs: [{ apiVersion: "v1", kind: "ConfigMap", current }],
      });
      for (const [current, missing] of [
        ["status.phase == 'x'", "no such attribute(s): status.phase"],
        ["data.foo.bar == 'x'", "no such key: foo"],
      ] as const) {
        await world.kustomization("app", rules(current));
        expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
        world.clock.advance(31_000);
        expect(await world.run("app")).toMatchObject({ outcome: "failed" });
        const item = `ConfigMap/${world.namespace}/a status: 'Unknown': failed to evaluate the CEL expression '${current}': ${missing}`;
        expect(await saysOf(world, "Healthy")).toBe(`False HealthCheckFailed: timeout waiting for: [${item}]`);
        expect(await world.ready("app")).toContain(`s: timeout waiting for: [${item}]`);
      }
      await world.kustomization("app", rules("data.k == 'v'"));
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
    });

    test("that return text give no status (109)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a", { k: "v" })]);
      const healthCheckExprs = [{ apiVersion: "v1", kind: "ConfigMap", current: "data.k" }];
      await world.kustomization("app", { wait: true, timeout: "30s", healthCheckExprs });
      await world.run("app");
      world.clock.advance(31_000);
      await world.run("app");
      const item = `ConfigMap/${world.namespace}/a status: 'Unknown': failed to evaluate CEL expression as boolean: 'data.k'`;
      expect(await saysOf(world, "Healthy")).toBe(`False HealthCheckFailed: timeout waiting for: [${item}]`);
    });

    test.each([
      {
        what: "does not parse",
        rules: [{ apiVersion: "v1", kind: "ConfigMap", inProgress: "foo.", current: "true" }],
        text: "failed to create custom status evaluator for healthchecks[0]: failed to parse the expression InProgress: failed to parse the CEL expression 'foo.': ERROR: <input>:1:5: Syntax error: no viable alternative at input '.'\n | foo.\n | ....^",
      },
      {
        what: "does not exist",
        rules: [{ apiVersion: "v1", kind: "ConfigMap", current: "" }],
        text: "failed to create custom status evaluator for healthchecks[0]: expression Current not specified",
      },
    ])("that $what stall the Kustomization, and nothing is applied (110)", async ({ rules, text }) => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { healthCheckExprs: rules });
      expect(await world.run("app")).toMatchObject({ outcome: "stalled", dueInMs: undefined });
      const message = `Reconciliation failed terminally due to configuration error: ${text}`;
      expect(await saysOf(world, "Stalled")).toBe(`True InvalidCELExpression: ${message}`);
      expect(await saysOf(world, "Ready")).toBe(`False InvalidCELExpression: ${message}`);
      const { generation } = (await world.get("Kustomization", "app", kustomize))?.metadata ?? {};
      expect((await world.status("app"))["observedGeneration"]).toBe(generation);
      expect(await world.events("app")).toEqual([`Warning InvalidCELExpression: ${message}`]);
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      await world.kustomization("app", { healthCheckExprs: [] });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await saysOf(world, "Stalled")).toBe("none");
    });

    test("without kind are for all kinds of their group, and one with a kind takes precedence (111)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a", { k: "v" }), service(80)]);
      const all = { apiVersion: "v1", current: "false" };
      const maps = { apiVersion: "v1", kind: "ConfigMap", current: "data.k == 'v'" };
      await world.kustomization("app", { wait: true, timeout: "30s", healthCheckExprs: [all, maps] });
      await world.run("app");
      world.clock.advance(31_000);
      await world.run("app");
      const { name: service_ } = service(80).metadata;
      expect(await saysOf(world, "Healthy")).toBe(
        `False HealthCheckFailed: timeout waiting for: [Service/${world.namespace}/${service_} status: 'InProgress']`,
      );
    });

    test.each([
      [
        [
          { apiVersion: "apps/v1", kind: "Deployment" },
          { apiVersion: "apps/v2", kind: "Deployment" },
        ],
        "Deployment.apps",
        1,
      ],
      [[{ apiVersion: "v1", kind: "Pod" }, { apiVersion: "apps/v1" }, { apiVersion: "v1", kind: "Pod" }], "Pod", 2],
      [[{ apiVersion: "apps/v1" }, { apiVersion: "apps/v1", kind: "" }], ".apps", 1],
    ])("for the same kind twice are a configuration error: %j (111)", async (kinds, groupKind, index) => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { healthCheckExprs: kinds.map((kind) => ({ ...kind, current: "true" })) });
      expect(await world.run("app")).toMatchObject({ outcome: "stalled" });
      expect(await world.ready("app")).toBe(
        `False InvalidCELExpression: Reconciliation failed terminally due to configuration error: duplicate custom health check for GroupKind ${groupKind} at healthchecks[${index}]`,
      );
    });

    test("also decide when the stage after that of the namespaces starts (111)", async () => {
      const world = await newWorld();
      const inner = `${world.namespace}-inner`;
      const within = { ...configMap("a"), metadata: { name: "a", namespace: inner } };
      await world.publish("v1", [{ apiVersion: "v1", kind: "Namespace", metadata: { name: inner } }, within]);
      const rule = { apiVersion: "v1", kind: "Namespace", current: "metadata.labels.stage == 'open'" };
      await world.kustomization("app", { targetNamespace: undefined, healthCheckExprs: [rule] });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: inner, name: "a" };
      expect(await world.cluster.get(ref, world.signal)).toBeUndefined();
      const { conditions } = await world.status("app");
      expect(JSON.stringify(conditions)).toContain(
        `timeout waiting for: [Namespace/${inner} status: 'Unknown': failed to`,
      );
      const namespace = { group: "", version: "v1", kind: "Namespace", namespace: "", name: inner };
      const body = { metadata: { labels: { stage: "open" } } };
      await world.cluster.patch(namespace, { type: "merge", body }, { manager: "test" }, world.signal);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      await world.remove("app");
      await world.run("app");
    });

    test("that take too long end the health check at once with that reason", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a", { list: "x".repeat(200) })]);
      const loop = (name: string, inside: string) => `data.list.split('').all(${name}, ${inside})`;
      const current = loop("a", loop("b", loop("c", "a == b && b == c")));
      await world.kustomization("app", {
        wait: true,
        timeout: "30s",
        healthCheckExprs: [{ apiVersion: "v1", kind: "ConfigMap", current }],
      });
      expect(await world.run("app")).toMatchObject({ outcome: "failed", dueInMs: 600_000 });
      expect(await saysOf(world, "Healthy")).toMatch(
        /^False HealthCheckFailed: failed to evaluate the CEL expression '.*': operation cancelled: actual cost limit exceeded$/,
      );
    });
  });
}
