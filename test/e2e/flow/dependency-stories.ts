import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import { defaultTiming } from "../../../lib/flows/interval.ts";
import { maxChain } from "../../../lib/flows/owner/dependency-cycle.ts";
import { configMap } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const kustomize = `${kustomizeGroup}/v1`;

/** What a Kustomization waits for. */
export function dependencyStories(name: string, newWorld: () => Promise<World>): void {
  describe(`a Kustomization waits on ${name}`, () => {
    test("for a missing source, and for one without an artifact (15, 16)", async () => {
      const world = await newWorld();
      await world.kustomization("app");
      expect(await world.run("app")).toMatchObject({ dueInMs: 30_000 });
      expect(await world.ready("app")).toBe("False ArtifactFailed: Source artifact not found, retrying in 30s");
      await world.kustomization("lost", { sourceRef: { kind: "OCIRepository", name: "x" } });
      expect(await world.run("lost")).toMatchObject({ dueInMs: 600_000 });
      expect(await world.ready("lost")).toBe(
        'False ArtifactFailed: OCIRepository.source.toolkit.fluxcd.io "x" not found',
      );
      expect(await world.events("lost")).toEqual([]);
    });

    test("as long as requeue-dependency says, and reports that (16, 20, 27)", async () => {
      const world = await newWorld();
      world.timing = { ...defaultTiming, requeueDependencyMs: 90_000 };
      await world.kustomization("app", { dependsOn: [{ name: "root" }] });
      expect(await world.run("app")).toMatchObject({ dueInMs: 90_000 });
      expect(await world.ready("app")).toContain("Source artifact not found, retrying in 1m30s");
      await world.publish("v1", [configMap("a")]);
      expect(await world.run("app")).toMatchObject({ dueInMs: 90_000 });
      expect(await world.events("app")).toEqual([
        "Normal DependencyNotReady: Dependencies do not meet ready condition, retrying in 1m30s",
      ]);
      world.stored.clear();
      await world.kustomization("app");
      expect(await world.run("app")).toMatchObject({ dueInMs: 90_000 });
      expect(await world.ready("app")).toContain("Source is not ready, artifact not found, retrying in 1m30s");
    });

    test("for dependencies: missing, not ready, on an older revision, ready (27, 28, 29)", async () => {
      const world = await newWorld();
      const revision = await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { dependsOn: [{ name: "root" }], targetNamespace: world.namespace });
      expect(await world.run("app")).toMatchObject({ outcome: "failed", dueInMs: 30_000 });
      const id = `${world.namespace}/root`;
      expect(await world.ready("app")).toBe(
        `False DependencyNotReady: dependency '${id}' not found: kustomizations.kustomize.toolkit.fluxcd.io "root" not found`,
      );
      expect(await world.events("app")).toEqual([
        "Normal DependencyNotReady: Dependencies do not meet ready condition, retrying in 30s",
      ]);
      const { conditions, ...status } = await world.status("app");
      expect(status).toEqual({ observedGeneration: -1 });
      expect(conditions).toHaveLength(1);
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      await world.kustomization("root", { namePrefix: "root-" });
      await world.run("app");
      expect(await world.ready("app")).toBe(`False DependencyNotReady: dependency '${id}' is not ready`);
      await world.run("root");
      expect(world.requested).toContain("Kustomization/app");
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      await world.publish("v2", [configMap("b")]);
      await world.run("app");
      expect(await world.ready("app")).toBe(`False DependencyNotReady: dependency '${id}' revision is not up to date`);
    });

    test("and its message says if the dependency is suspended, and how to resume it", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("root", { suspend: true });
      await world.kustomization("app", { dependsOn: [{ name: "root" }], namePrefix: "app-" });
      await world.run("app");
      const why = `it is suspended, resume it with sluice resume ks root -n ${world.namespace}`;
      const id = `dependency '${world.namespace}/root'`;
      expect(await world.ready("app")).toBe(`False DependencyNotReady: ${id} is not ready: ${why}`);
      await world.kustomization("root", {});
      await world.run("root");
      await world.publish("v2", [configMap("b")]);
      await world.kustomization("root", { suspend: true });
      await world.run("root");
      await world.run("app");
      expect(await world.ready("app")).toBe(`False DependencyNotReady: ${id} revision is not up to date: ${why}`);
    });

    test("and its event names the dependency and why that is not ready; the first success after it says so", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { dependsOn: [{ name: "root" }], namePrefix: "app-" });
      await world.run("app");
      await world.kustomization("root", { path: "./missing" });
      await world.run("root");
      await world.run("app");
      await world.kustomization("root");
      await world.run("root");
      await world.run("app");
      await world.run("app");
      const root = `Kustomization/${world.namespace}/root`;
      const repo = `OCIRepository/${world.namespace}/repo`;
      expect(world.relations).toEqual([
        `app DependencyNotReady waits ${root} NotFound`,
        "root BuildFailed failed",
        `app DependencyNotReady waits ${root} BuildFailed`,
        `root ReconciliationSucceeded recovered ${repo}`,
        `app ReconciliationSucceeded recovered ${repo} ${root}`,
      ]);
    });

    test("a dependent is woken by the next run if a run was killed before it woke it, and then no more", async () => {
      const world = await newWorld();
      // No Canary follows it, so the first subscribers that are looked up are those of the Kustomization.
      await world.publish("v1", [{ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "a" } }]);
      await world.kustomization("app", { dependsOn: [{ name: "root" }], namePrefix: "app-" });
      await world.kustomization("root");
      await world.run("app");
      world.fault = (call) => {
        // Ready is written by then.
        if (call === "subscriptions.subscribers") throw new Error("killed");
      };
      await expect(world.run("root")).rejects.toThrow("killed");
      world.fault = () => {};
      expect(await world.ready("root")).toMatch(/^True/);
      expect(world.requested).not.toContain("Kustomization/app");
      await world.run("root");
      expect(world.requested).toContain("Kustomization/app");
      world.requested.length = 0;
      await world.run("root");
      expect(world.requested).toEqual([]);
      // A dependent that has looked since the edit has found it not ready.
      await world.kustomization("root", { interval: "7m" });
      await world.run("root");
      expect(world.requested).toEqual(["Kustomization/app"]);
    });

    test("an applied object is reported even if the prune after it did not end", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      await world.publish("v2", [configMap("b")]);
      world.fault = (call) => {
        if (call === "cluster.delete") throw new Error("killed");
      };
      await expect(world.run("app")).rejects.toThrow("killed");
      world.fault = () => {};
      await world.run("app");
      const { namespace } = world;
      expect(await world.events("app")).toContain(`Normal Progressing: ConfigMap/${namespace}/b created`);
    });

    test("for a dependency whose new generation is not observed yet, even if its status is Ready (28)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("root");
      await world.run("root");
      await world.kustomization("root", { interval: "5m" });
      expect(await world.ready("root")).toMatch(/^True/);
      await world.kustomization("app", { dependsOn: [{ name: "root" }] });
      const notReady = `False DependencyNotReady: dependency '${world.namespace}/root' is not ready`;
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 30_000 });
      expect(await world.ready("app")).toBe(notReady);
      await world.run("root");
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
    });

    test("for a dependency that has failed, even if its generation is observed (28)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("root");
      await world.run("root");
      const { generation = 0 } = (await world.get("Kustomization", "root", kustomize))?.metadata ?? {};
      const failed = { type: "Ready", status: "False", reason: "PruneFailed", message: "" };
      const conditions = [{ ...failed, lastTransitionTime: "2026-01-01T00:00:00Z" }];
      const status = { observedGeneration: generation, conditions };
      await world.patch("root", { status }, { manager: "test", subresource: "status" });
      await world.kustomization("app", { dependsOn: [{ name: "root" }] });
      await world.run("app");
      expect(await world.ready("app")).toBe(
        `False DependencyNotReady: dependency '${world.namespace}/root' is not ready`,
      );
    });

    test("by readyExpr alone: a suspended dependency counts while the expression is true (30)", async () => {
      const world = await newWorld();
      const revision = await world.publish("v1", [configMap("a")]);
      const version = (text: string) => ({ metadata: { annotations: { "app/version": text } } });
      const readyExpr = "self.metadata.annotations['app/version'] == dep.metadata.annotations['app/version']";
      await world.kustomization("root", { suspend: true });
      await world.kustomization("app", { dependsOn: [{ name: "root", readyExpr }] });
      await world.patch("root", version("v1"), { manager: "test" });
      await world.patch("app", version("v2"), { manager: "test" });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 30_000 });
      expect((await world.status("app"))["conditions"]).toMatchObject([
        {
          type: "Ready",
          status: "False",
          reason: "DependencyNotReady",
          message: `dependency '${world.namespace}/root' is not ready according to readyExpr eval`,
        },
      ]);
      await world.patch("app", version("v1"), { manager: "test" });
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
    });

    test.each([
      {
        readyExpr: "self.generation == deps.generation",
        text: "failed to parse the CEL expression 'self.generation == deps.generation': ERROR: <input>:1:20: undeclared reference to 'deps' (in container '')\n | self.generation == deps.generation\n | ...................^",
      },
      {
        readyExpr: "dep.spec.suspend",
        text: "CEL expression output type mismatch: expected bool, got dyn",
      },
    ])("a readyExpr that does not compile stalls the dependant: $readyExpr (31)", async ({ readyExpr, text }) => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("root");
      await world.kustomization("app", { dependsOn: [{ name: "root", readyExpr }] });
      expect(await world.run("app")).toMatchObject({ outcome: "stalled", dueInMs: undefined });
      const message = `Reconciliation failed terminally due to configuration error: terminal error: failed to evaluate dependency root: ${text}`;
      const said = { reason: "InvalidCELExpression", message };
      expect((await world.status("app"))["conditions"]).toMatchObject([
        { type: "Stalled", status: "True", ...said },
        { type: "Ready", status: "False", ...said },
      ]);
      expect(await world.events("app")).toEqual([`Warning InvalidCELExpression: ${message}`]);
      const { generation } = (await world.get("Kustomization", "app", kustomize))?.metadata ?? {};
      expect((await world.status("app"))["observedGeneration"]).toBe(generation);
    });

    test("a readyExpr without result is retried (30)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("root");
      const readyExpr = "dep.status.lastAppliedRevision == 'x'";
      await world.kustomization("app", { dependsOn: [{ name: "root", readyExpr }] });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 30_000 });
      expect(await world.ready("app")).toBe(
        `False DependencyNotReady: failed to evaluate the CEL expression '${readyExpr}': no such key: lastAppliedRevision`,
      );
    });

    test.each([
      ["type(dep.metadata.generation) == int && dep.metadata.generation % 2 == 1", true],
      ["dep.spec.interval == '10m0s'", true],
      ["has(dep.spec.force) || has(dep.spec.suspend) || has(dep.spec.path)", false],
      ["dep.spec.prune && has(dep.status) && has(dep.metadata.uid)", true],
      ["has(dep.kind) || has(self.apiVersion)", false],
    ])("a readyExpr reads a dependency with the fields of Flux's types: %s (30)", async (readyExpr, isReady) => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("root", { force: false });
      await world.kustomization("app", { dependsOn: [{ name: "root", readyExpr }] });
      await world.run("app");
      expect((await world.ready("app")).startsWith("True")).toBe(isReady);
    });

    test("with AdditiveCELDependencyCheck until the dependency is ready as well (32)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("root", { namePrefix: "root-" });
      await world.kustomization("app", { dependsOn: [{ name: "root", readyExpr: "true" }] });
      world.gates = { ...world.gates, AdditiveCELDependencyCheck: true };
      await world.run("app");
      expect(await world.ready("app")).toBe(
        `False DependencyNotReady: dependency '${world.namespace}/root' is not ready`,
      );
      world.gates = { ...world.gates, AdditiveCELDependencyCheck: false };
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
    });

    test("a dependency cycle, and an object that depends on itself, are reported by name", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("one", { dependsOn: [{ name: "two" }] });
      await world.kustomization("two", { dependsOn: [{ name: "one" }] });
      await world.kustomization("self", { dependsOn: [{ name: "self" }] });
      await world.run("one");
      await world.run("self");
      const at = (name: string) => `${world.namespace}/${name}`;
      expect(await world.ready("one")).toBe(
        `False DependencyNotReady: dependency '${at("two")}' is not ready: circular dependency detected: ${at("one")} -> ${at("two")} -> ${at("one")}`,
      );
      // Nobody else has to be told.
      expect(world.requested).toEqual(["Kustomization/two"]);
      expect(await world.ready("self")).toContain(`circular dependency detected: ${at("self")} -> ${at("self")}`);
    });

    test("each member of a dependency cycle reports it: the first that finds it requests runs of the others, once", async () => {
      const world = await newWorld();
      const revision = await world.publish("v1", [configMap("a")]);
      const at = (name: string) => `${world.namespace}/${name}`;
      const members = ["one", "two", "three"];
      for (const [index, name] of members.entries()) {
        await world.kustomization(name, { namePrefix: `${name}-`, dependsOn: [{ name: members[index + 1] ?? "one" }] });
      }
      await world.run("one");
      // Again before the others have come to it: they have been asked for.
      await world.run("one");
      expect(world.requested).toEqual(["Kustomization/two", "Kustomization/three"]);
      for (const name of ["two", "three", "one", "two"]) await world.run(name);
      expect(world.requested).toEqual(["Kustomization/two", "Kustomization/three", "Kustomization/three"]);
      expect(await world.ready("three")).toBe(
        `False DependencyNotReady: dependency '${at("one")}' is not ready: circular dependency detected: ${["three", "one", "two", "three"].map(at).join(" -> ")}`,
      );

      // Broken at one place, all go on.
      await world.kustomization("three", { namePrefix: "three-" });
      for (const name of ["three", "two", "one"]) {
        await world.run(name);
        expect(await world.ready(name)).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      }
    });

    test("a dependency cycle is reported even if all its members are ready, at an older revision", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("one", { namePrefix: "one-" });
      await world.kustomization("two", { namePrefix: "two-", dependsOn: [{ name: "one" }] });
      await world.kustomization("other", { namePrefix: "other-" });
      for (const name of ["one", "two", "other"]) await world.run(name);
      await world.kustomization("one", { namePrefix: "one-", dependsOn: [{ name: "other" }, { name: "two" }] });
      await world.run("one");
      expect(await world.ready("one")).toMatch(/^True/);
      await world.publish("v2", [configMap("a")]);
      const at = (name: string) => `${world.namespace}/${name}`;
      const circle = (name: string, next: string) =>
        `circular dependency detected: ${at(name)} -> ${at(next)} -> ${at(name)}`;
      await world.run("two");
      expect(await world.ready("two")).toBe(
        `False DependencyNotReady: dependency '${at("one")}' revision is not up to date: ${circle("two", "one")}`,
      );
      // It waits for another one first, and is in the circle nevertheless.
      await world.run("one");
      expect(await world.ready("one")).toBe(
        `False DependencyNotReady: dependency '${at("other")}' revision is not up to date: ${circle("one", "two")}`,
      );
    });

    test("no cycle is reported through a readyExpr that does not need the dependency to be ready", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      const readyExpr = "has(dep.metadata.labels) && dep.metadata.labels['phase'] == 'go'";
      await world.kustomization("one", { namePrefix: "one-", dependsOn: [{ name: "two", readyExpr }] });
      await world.kustomization("two", { namePrefix: "two-", dependsOn: [{ name: "one" }] });
      for (const name of ["one", "two", "one"]) await world.run(name);
      expect(await world.ready("one")).toMatch(
        /^False DependencyNotReady: .* is not ready according to readyExpr eval$/,
      );
      expect(await world.ready("two")).toBe(
        `False DependencyNotReady: dependency '${world.namespace}/one' is not ready`,
      );
      world.gates = { ...world.gates, AdditiveCELDependencyCheck: true };
      await world.run("two");
      expect(await world.ready("two")).toContain("circular dependency detected");
      world.gates = { ...world.gates, AdditiveCELDependencyCheck: false };
      await world.patch("two", { metadata: { labels: { phase: "go" } } }, { manager: "test" });
      for (const name of ["one", "two"]) {
        await world.run(name);
        expect(await world.ready(name)).toMatch(/^True/);
      }
    });

    test.each([
      ["of the same source", "repo"],
      // Whose revision is compared with that of no other source.
      ["of another source", "other"],
    ])("no cycle is reported if a member of it %s is ready and waits for nothing", async (_, from) => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      if (from !== "repo") await world.publish("w1", [configMap("o")], { source: from });
      await world.kustomization("one", { namePrefix: "one-" });
      const sourceRef = { kind: "OCIRepository", name: from };
      await world.kustomization("two", { namePrefix: "two-", sourceRef, dependsOn: [{ name: "one" }] });
      for (const name of ["one", "two"]) await world.run(name);
      const dependsOn = [{ name: "later" }, { name: "two" }];
      await world.kustomization("one", { namePrefix: "one-", dependsOn });
      await world.kustomization("later", { namePrefix: "later-" });
      await world.run("one");
      expect(await world.ready("one")).toBe(
        `False DependencyNotReady: dependency '${world.namespace}/later' is not ready`,
      );
      for (const name of ["later", "one", "two"]) {
        await world.run(name);
        expect(await world.ready(name)).toMatch(/^True/);
      }
    });

    test("indirect dependencies are read after a change, and rarely otherwise", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { dependsOn: [{ name: "next" }] });
      await world.kustomization("next", { dependsOn: [{ name: "last" }] });
      await world.kustomization("last", { suspend: true });
      let reads = 0;
      world.fault = (call) => {
        if (call === "cluster.get") reads += 1;
      };
      const readsOf = async (run: () => Promise<unknown>) => {
        const before = reads;
        await run();
        return reads - before;
      };
      const first = await readsOf(() => world.run("app"));
      for (let runs = 0; runs < 2; runs++) await world.runDue("app");
      // The next one, as `app` asks for its state, and no other.
      expect(first - (await readsOf(() => world.runDue("app")))).toBe(2);
      expect(await readsOf(() => world.run("app"))).toBe(first);
      for (let runs = 0; runs < 20; runs++) await world.runDue("app");
      await world.kustomization("last", { dependsOn: [{ name: "app" }] });
      // As `last` has not run yet, it has asked for none.
      for (let runs = 0; runs < 20; runs++) await world.runDue("app");
      expect(await world.ready("app")).toContain("circular dependency detected");
    });

    test("a dependency cycle through another namespace is reported", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      const elsewhere = `${world.namespace}-circle`;
      await world.publish("v1", [configMap("a")], { within: elsewhere });
      await world.kustomization("app", { dependsOn: [{ name: "far", namespace: elsewhere }] });
      const spec = { interval: "10m", prune: true, sourceRef: { kind: "OCIRepository", name: "repo" } };
      const members = [
        // Without a namespace it is in that of the one that names it.
        { name: "far", dependsOn: [{ name: "near" }] },
        { name: "near", dependsOn: [{ name: "app", namespace: world.namespace }] },
      ];
      for (const { name: member, dependsOn } of members) {
        const metadata = { name: member, namespace: elsewhere };
        const made = { apiVersion: kustomize, kind: "Kustomization", metadata, spec: { ...spec, dependsOn } };
        await world.cluster.create(made, { manager: "test" }, world.signal);
      }
      await world.run("app");
      const circle = [`${world.namespace}/app`, `${elsewhere}/far`, `${elsewhere}/near`, `${world.namespace}/app`];
      expect(await world.ready("app")).toContain(`circular dependency detected: ${circle.join(" -> ")}`);
    });

    test("a dependency cycle is searched up to a limit of objects", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      const name = (index: number, size: number) => `o${size}-${index % size}`;
      const isNamed = async (size: number) => {
        for (let index = 0; index < size; index++) {
          await world.kustomization(name(index, size), { dependsOn: [{ name: name(index + 1, size) }] });
        }
        await world.run(name(0, size));
        return (await world.ready(name(0, size))).includes("circular dependency detected");
      };
      expect([await isNamed(maxChain - 1), await isNamed(maxChain), await isNamed(maxChain + 1)]).toEqual([
        true,
        true,
        false,
      ]);
    });
  });
}
