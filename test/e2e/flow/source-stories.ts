import { describe, expect, test } from "vitest";
import { z } from "zod";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import { Failure } from "../../../lib/core/failure.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { configMap, service } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const kustomize = `${kustomizeGroup}/v1`;
const Conditions = z.array(z.object({ type: z.string(), reason: z.string() }));

/** The next build fails with this, as that of a path that is not there or of manifests that do not parse. */
function failBuild(world: World, failure: Failure): void {
  world.fault = (call) => {
    if (call === "build") throw failure;
  };
}

/** Of each event about the Kustomization `app`: reason, revision and origin revision, in order. */
async function originsOf({ cluster, namespace, signal }: World) {
  const events = await cluster.list({ group: "", version: "v1", kind: "Event", namespace }, signal);
  return events
    .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
    .map(({ reason, metadata: { annotations } }) => [
      reason,
      annotations?.[`${kustomizeGroup}/revision`],
      annotations?.[`${kustomizeGroup}/originRevision`],
    ]);
}

/** What becomes of a Kustomization by its source and its dependencies. */
export function sourceStories(name: string, newWorld: () => Promise<World>): void {
  describe(`the source of a Kustomization on ${name}`, () => {
    test("is subscribed to before it exists, so that its first artifact wakes the waiting objects (15)", async () => {
      const world = await newWorld();
      await world.kustomization("app", { sourceRef: { kind: "OCIRepository", name: "later" } });
      await world.run("app");
      const later = `test/source.toolkit.fluxcd.io/OCIRepository/${world.namespace}/later`;
      expect(world.subscriptionsOf("app")).toEqual([`src#${later}`]);
      expect(await world.run("app")).toMatchObject({ dueInMs: 600_000 });

      const revision = await world.publish("v1", [configMap("a")], { source: "later" });
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      expect(await world.events("app")).toHaveLength(2);
    });

    test("fails the run while it does not exist, since no other run reports it", async () => {
      const world = await newWorld();
      await world.kustomization("app", { sourceRef: { kind: "OCIRepository", name: "later" } });
      const message = 'OCIRepository.source.toolkit.fluxcd.io "later" not found';
      expect(await world.run("app")).toMatchObject({
        outcome: "failed",
        failure: { reason: "ArtifactFailed", message },
      });
    });

    test("may be in another namespace (18)", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-sources`;
      const revision = await world.publish("v1", [configMap("a")], { within });
      await world.kustomization("app", { sourceRef: { kind: "OCIRepository", name: "repo", namespace: within } });
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      expect(await world.get("ConfigMap", "a")).toBeDefined();
    });

    test("whose artifact is missing is reconciled without an event, and the artifact is applied when it is back (20)", async () => {
      const world = await newWorld();
      const revision = await world.publish("v1", [configMap("a")]);
      const [[digest, manifests] = ["", []]] = world.stored;
      world.stored.clear();
      await world.kustomization("app");
      expect(await world.run("app")).toMatchObject({ dueInMs: 30_000 });
      const message = "Source is not ready, artifact not found, retrying in 30s";
      expect(await world.ready("app")).toBe(`False ArtifactFailed: ${message}`);
      expect(await world.events("app")).toEqual([]);
      expect(world.requested).toEqual(["OCIRepository/repo"]);

      world.stored.set(digest, manifests);
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
    });

    test("without the folder in spec.path fails the run, and the revision does not count as attempted (22)", async () => {
      const world = await newWorld();
      const first = await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { retryInterval: "2m" });
      await world.run("app");
      await world.publish("v2", [configMap("b")]);
      const message = "kustomization path not found: stat /tmp/missing: no such file or directory";
      failBuild(world, new Failure("ArtifactFailed", message));
      expect(await world.run("app")).toMatchObject({ outcome: "failed", dueInMs: 120_000 });
      expect(await world.ready("app")).toBe(`False ArtifactFailed: ${message}`);
      expect(await world.status("app")).toMatchObject({ lastAttemptedRevision: first, lastAppliedRevision: first });
      expect((await world.events("app")).at(-1)).toBe(`Warning ArtifactFailed: ${message}`);
    });

    test("whose manifests do not build fails the run, and the revision counts as attempted (38)", async () => {
      const world = await newWorld();
      const first = await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      const second = await world.publish("v2", [configMap("b")]);
      failBuild(world, new Failure("BuildFailed", "kustomize build failed: no"));
      expect(await world.run("app")).toMatchObject({ outcome: "failed", dueInMs: 600_000 });
      expect(await world.ready("app")).toBe("False BuildFailed: kustomize build failed: no");
      const status = await world.status("app");
      expect(status).toMatchObject({ lastAttemptedRevision: second, lastAppliedRevision: first });
      expect(status["history"]).toHaveLength(1);
    });

    test("that is being deleted counts as one without an artifact, and nothing is pruned because of it", async () => {
      const world = await newWorld();
      const { namespace, signal } = world;
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      const ref = { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository", namespace, name: "repo" };
      const body = { metadata: { finalizers: ["example.com/hold"] } };
      await world.cluster.patch(ref, { type: "merge", body }, { manager: "test" }, signal);
      await world.cluster.delete(ref, { propagation: "Background" }, signal);
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 30_000 });
      expect(await world.ready("app")).toBe("False ArtifactFailed: Source artifact not found, retrying in 30s");
      expect(await world.get("ConfigMap", "a")).toBeDefined();
    });

    test("a run that waits for it is no longer stalled by a fault that was corrected before", async () => {
      const world = await newWorld();
      await world.kustomization("app", { sourceRef: { kind: "ExternalArtifact", name: "repo" } });
      await world.run("app");
      const types = async () =>
        Conditions.parse((await world.status("app"))["conditions"]).map(({ type, reason }) => `${type} ${reason}`);
      expect(await types()).toEqual(["Stalled AccessDenied", "Ready AccessDenied"]);
      await world.kustomization("app");
      await world.run("app");
      expect(await types()).toEqual(["Ready ArtifactFailed"]);
    });

    test("that is not ready is still applied if it has an artifact (24)", async () => {
      const world = await newWorld();
      const revision = await world.publish("v1", [configMap("a")]);
      const ref = { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository", name: "repo" };
      const ready = { type: "Ready", status: "False", reason: "OCIArtifactPullFailed", message: "registry is down" };
      const conditions = [{ ...ready, lastTransitionTime: "2026-01-01T00:00:00Z" }];
      await world.cluster.patch(
        { ...ref, namespace: world.namespace },
        { type: "merge", body: { status: { conditions } } },
        { manager: "test", subresource: "status" },
        world.signal,
      );
      await world.kustomization("app");
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
    });

    test("shows the origin of its artifact in status, history and every event of the run (25)", async () => {
      const world = await newWorld();
      const metadata = { "org.opencontainers.image.revision": "orev" };
      const revision = await world.publish("v1", [configMap("a"), configMap("b")], { metadata });
      await world.kustomization("app", { wait: true });
      await world.run("app");
      expect(await world.status("app")).toMatchObject({
        lastAppliedOriginRevision: "orev",
        history: [{ metadata: { revision, originRevision: "orev" } }],
      });
      expect(await originsOf(world)).toEqual([
        ["Progressing", revision, "orev"],
        ["Progressing", revision, "orev"],
        ["ReconciliationSucceeded", revision, "orev"],
      ]);
    });

    test("shows the origin also in the events of a run that prunes, waits, fails or has no artifact yet (25)", async () => {
      const world = await newWorld();
      const publish = (tag: string, manifests: readonly Manifest[], origin: string) =>
        world.publish(tag, manifests, { metadata: { "org.opencontainers.image.revision": origin } });
      await publish("v1", [configMap("a"), configMap("b")], "one");
      await world.kustomization("app");
      await world.run("app");
      const pruned = await publish("v2", [configMap("a")], "two");
      await world.run("app");
      const emptied = await publish("v3", [], "three");
      await world.run("app");
      const refused = await publish("v4", [service(800_000)], "four");
      await world.run("app");
      expect(await world.status("app")).toMatchObject({
        lastAppliedOriginRevision: "three",
        history: [{ metadata: { revision: refused, originRevision: "four" } }, {}, {}, {}],
      });
      await world.kustomization("app", { dependsOn: [{ name: "root" }] });
      await world.run("app");
      expect((await originsOf(world)).slice(2)).toEqual([
        ["Progressing", pruned, "two"],
        ["ReconciliationSucceeded", pruned, "two"],
        ["PruningAll", emptied, "three"],
        ["Progressing", emptied, "three"],
        ["ReconciliationSucceeded", emptied, "three"],
        ["ReconciliationFailed", refused, "four"],
        ["DependencyNotReady", refused, "four"],
      ]);
    });

    test("no longer names the commit of an old artifact if the current one names none (25)", async () => {
      const world = await newWorld();
      const metadata = { "org.opencontainers.image.revision": "orev" };
      await world.publish("v1", [configMap("a")], { metadata });
      await world.kustomization("app");
      await world.run("app");
      // A merge patch leaves what it does not name, as that of a source may.
      const revision = await world.publish("v2", [configMap("a", { k: "new" })], {
        metadata: { "org.opencontainers.image.revision": null },
      });
      await world.run("app");
      const status = await world.status("app");
      expect(status).not.toHaveProperty("lastAppliedOriginRevision");
      expect(status).toMatchObject({ lastAppliedRevision: revision, history: [{ metadata: { revision } }, {}] });
      expect((await originsOf(world)).slice(2)).toEqual([
        ["Progressing", revision, undefined],
        ["ReconciliationSucceeded", revision, undefined],
      ]);
    });
  });

  describe(`the dependencies of a Kustomization on ${name}`, () => {
    test("may be in another namespace, and use another source, whose revision is not compared (29, 33)", async () => {
      const world = await newWorld();
      const namespace = `${world.namespace}-base`;
      await world.publish("v0", [], { within: namespace });
      const revision = await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { dependsOn: [{ name: "root", namespace }] });
      await world.run("app");
      expect(await world.ready("app")).toContain(`False DependencyNotReady: dependency '${namespace}/root' not found`);

      const spec = { interval: "10m", prune: true, sourceRef: { kind: "OCIRepository", name: "repo" } };
      const root = { apiVersion: kustomize, kind: "Kustomization", metadata: { name: "root", namespace }, spec };
      const { object } = await world.cluster.apply(root, { manager: "test", force: true }, world.signal);
      const ready = { type: "Ready", status: "True", reason: "ReconciliationSucceeded", message: "" };
      const conditions = [{ ...ready, lastTransitionTime: "2026-01-01T00:00:00Z" }];
      const status = { observedGeneration: object.metadata.generation ?? 0, conditions };
      await world.cluster.patch(
        { group: kustomizeGroup, version: "v1", kind: "Kustomization", namespace, name: "root" },
        { type: "merge", body: { status } },
        { manager: "test", subresource: "status" },
        world.signal,
      );
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
    });

    test("do not prevent the deletion of an object (34)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      await world.kustomization("app", { dependsOn: [{ name: "never" }] });
      await world.run("app");
      expect(await world.ready("app")).toContain("False DependencyNotReady");
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      expect(await world.get("Kustomization", "app", kustomize)).toBeUndefined();
    });

    test("come first at a new revision, whichever is woken first (35)", async () => {
      const world = await newWorld();
      await world.publish("v1", []);
      await world.kustomization("base");
      await world.kustomization("app", { dependsOn: [{ name: "base" }] });
      await world.run("base");
      await world.run("app");
      const second = await world.publish("v2", []);
      world.requested.length = 0;
      await world.run("app");
      expect(await world.status("app")).not.toMatchObject({ lastAttemptedRevision: second });
      await world.run("base");
      expect(world.requested).toEqual(["Kustomization/app"]);
      await world.run("app");
      expect(await world.status("app")).toMatchObject({ lastAppliedRevision: second });
    });
  });
}
