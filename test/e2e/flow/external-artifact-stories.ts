import { describe, expect, test } from "vitest";
import { digestOf } from "../../../lib/core/digest.ts";
import { defaultGates } from "../../../lib/core/feature-gates.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { HttpError } from "../../../lib/core/ports/http.ts";
import { configMap } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const url = "http://artifacts.test/app.tar.gz";
const group = "source.toolkit.fluxcd.io";
const sourceRef = { kind: "ExternalArtifact", name: "app" };

/** Kustomizations of a source that somebody else writes and serves. */
export function externalArtifactStories(name: string, newWorld: () => Promise<World>): void {
  describe(`an ExternalArtifact on ${name}`, () => {
    const open = async (): Promise<World> => {
      const world = await newWorld();
      world.gates = { ...defaultGates, ExternalArtifact: true };
      return world;
    };
    /** Writes and serves an artifact, as its producer does. */
    const produce = async (world: World, revision: string, manifests: readonly Manifest[], digest?: string) => {
      const { cluster, namespace, signal } = world;
      const bytes = Buffer.from(JSON.stringify([revision, manifests]));
      world.stored.set(digestOf(bytes), manifests);
      world.served.set(url, bytes);
      const metadata = { name: "app", namespace };
      await cluster.apply(
        { apiVersion: `${group}/v1`, kind: "ExternalArtifact", metadata, spec: {} },
        { manager: "producer", force: true },
        signal,
      );
      const artifact = {
        ...{ url, revision, path: "app.tar.gz", lastUpdateTime: "2026-01-01T00:00:00Z" },
        digest: digest ?? digestOf(bytes),
      };
      const ref = { group, version: "v1", kind: "ExternalArtifact", namespace, name: "app" };
      const how = { manager: "producer", subresource: "status" } as const;
      await cluster.patch(ref, { type: "merge", body: { status: { artifact } } }, how, signal);
      return digestOf(bytes);
    };

    test("is refused while the gate is off (19)", async () => {
      const world = await newWorld();
      await produce(world, "v1", [configMap("a")]);
      await world.kustomization("app", { sourceRef });
      expect(await world.run("app")).toMatchObject({ outcome: "stalled", dueInMs: undefined });
      const message = `can't access 'ExternalArtifact/${world.namespace}/app', ExternalArtifact feature gate is disabled`;
      expect(await world.ready("app")).toBe(`False AccessDenied: ${message}`);
      expect((await world.status("app"))["conditions"]).toContainEqual(
        expect.objectContaining({ type: "Stalled", status: "True", reason: "AccessDenied", message }),
      );
      expect(await world.events("app")).toEqual([`Warning AccessDenied: ${message}`]);
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      world.gates = { ...defaultGates, ExternalArtifact: true };
      await world.run("app");
      expect(await world.ready("app")).toBe("True ReconciliationSucceeded: Applied revision: v1");
    });

    test("is applied with the gate on, each revision, and subscribed to (19)", async () => {
      const world = await open();
      await world.kustomization("app", { sourceRef });
      await world.run("app");
      expect(await world.ready("app")).toBe(`False ArtifactFailed: ExternalArtifact.${group} "app" not found`);
      await produce(world, "v1", [configMap("a"), configMap("b")]);
      expect(await world.run("app")).toMatchObject({ outcome: "applied" });
      await produce(world, "v2", [configMap("a", { of: "v2" })]);
      await world.run("app");
      expect(await world.ready("app")).toBe("True ReconciliationSucceeded: Applied revision: v2");
      expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ of: "v2" });
      expect(await world.get("ConfigMap", "b")).toBeUndefined();
      expect(world.subscriptionsOf("app")).toContainEqual(expect.stringMatching(/^src#.*ExternalArtifact.*app$/));
      expect(world.requested).toEqual([]);
    });

    test("in another namespace is refused for the namespace first (17, 19)", async () => {
      const world = await newWorld();
      world.noCrossNamespaceRefs = true;
      await world.kustomization("app", { sourceRef: { ...sourceRef, namespace: "elsewhere" } });
      await world.run("app");
      expect(await world.ready("app")).toBe(
        "False AccessDenied: can't access 'ExternalArtifact/elsewhere/app', cross-namespace references have been blocked",
      );
    });

    test("whose file is not served is awaited, and applied once it is (20)", async () => {
      const world = await open();
      await produce(world, "v1", [configMap("a")]);
      const bytes = world.served.get(url);
      world.served.delete(url);
      await world.kustomization("app", { sourceRef });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 30_000 });
      expect(await world.ready("app")).toBe(
        "False ArtifactFailed: Source is not ready, artifact not found, retrying in 30s",
      );
      expect(await world.events("app")).toEqual([]);
      expect(world.requested).toEqual([]);
      if (bytes !== undefined) world.served.set(url, bytes);
      await world.run("app");
      expect(await world.ready("app")).toBe("True ReconciliationSucceeded: Applied revision: v1");
    });

    test("whose file has another digest is not applied (21)", async () => {
      const world = await open();
      const digest = `sha256:${"0".repeat(64)}`;
      const stored = await produce(world, "v1", [configMap("a")], digest);
      world.stored.set(`sha256:${"0".repeat(64)}`, world.stored.get(stored) ?? []);
      await world.kustomization("app", { sourceRef });
      expect(await world.run("app")).toMatchObject({ outcome: "failed", dueInMs: 600_000 });
      const message = `failed to verify archive: computed digest doesn't match provided '${digest}' (check whether file size exceeds max download size)`;
      expect(await world.ready("app")).toBe(`False ArtifactFailed: ${message}`);
      expect(await world.events("app")).toEqual([`Warning ArtifactFailed: ${message}`]);
      expect((await world.status("app"))["lastAttemptedRevision"]).toBeUndefined();
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
    });

    test("whose server fails is retried with back-off", async () => {
      const world = await open();
      await produce(world, "v1", [configMap("a")]);
      await world.kustomization("app", { sourceRef });
      world.served.set(url, 503);
      expect(await world.run("app")).toMatchObject({ outcome: "failed", dueInMs: 750 });
      expect(await world.ready("app")).toBe(
        `False ArtifactFailed: failed to download archive from ${url} (status: 503 Service Unavailable)`,
      );
      world.served.set(url, new HttpError("unreachable", `GET ${url}: connection refused`));
      expect(await world.run("app")).toMatchObject({ outcome: "failed", dueInMs: 1_500 });
      expect(await world.ready("app")).toBe(
        `False ArtifactFailed: failed to download archive: GET ${url}: connection refused`,
      );
    });
  });
}
