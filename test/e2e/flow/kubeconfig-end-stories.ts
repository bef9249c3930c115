import { describe, expect, test } from "vitest";
import { configTopic } from "../../../lib/core/topics.ts";
import { inlineKubeconfig, tcpFront } from "../../doubles/cluster-fronts.ts";
import { away, grant, type HomeAndOther, inBoth, put, remote } from "./kubeconfig-scene.ts";
import { configMap } from "./sample-manifests.ts";

const kustomize = "kustomize.toolkit.fluxcd.io/v1";

/** The end of a Kustomization with `spec.kubeConfig` (reference section 5), between two clusters. */
export function kubeconfigEndStories(name: string, begin: () => Promise<HomeAndOther>): void {
  const beginBoth = async () => inBoth(await begin());

  describe(`the deletion of a Kustomization with spec.kubeConfig on ${name}`, () => {
    test("whose account is in neither cluster leaves its objects, and an event lists them (121)", async () => {
      const { world, other, there } = await beginBoth();
      const { namespace, signal } = world;
      await put(world, { value: inlineKubeconfig(other.config) });
      await grant(other.cluster, namespace, "deployer", signal);
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { ...remote, serviceAccountName: "deployer" });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await world.events("app")).toContainEqual(
        `Warning ReconciliationSucceeded: unable to prune objects: \nConfigMap/${namespace}/a`,
      );
      expect(await there("a")).toBeDefined();
    });

    test("while suspended leaves its objects there, without its Secret (119)", async () => {
      const { world, other, there } = await beginBoth();
      await put(world, { value: inlineKubeconfig(other.config) });
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", remote);
      await world.run("app");
      await world.kustomization("app", { ...remote, suspend: true });
      await away(world);
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await there("a")).toBeDefined();
      expect(await world.inventory("app")).toEqual([]);
    });

    test("waits for finalizers there until its timeout, which an outage does not restart, and reports that (120)", async () => {
      const { world, other } = await beginBoth();
      const kubeconfig = inlineKubeconfig(other.config);
      await put(world, { value: kubeconfig });
      await world.publish("v1", [configMap("a", { k: "v" }, { finalizers: ["example.com/hold"] })]);
      await world.kustomization("app", { ...remote, deletionPolicy: "WaitForTermination", timeout: "30s" });
      await world.run("app");
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      world.clock.advance(31_000);
      await away(world);
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      await put(world, { value: kubeconfig });
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await world.events("app")).toContainEqual(
        "Warning ReconciliationSucceeded: failed to wait for resources termination",
      );
    });

    test("waits while its Secret is missing, says why and how to give the objects up, and deletes them once it is back", async () => {
      const { world, other, there } = await beginBoth();
      const { namespace } = world;
      const kubeconfig = inlineKubeconfig(other.config);
      await put(world, { value: kubeconfig });
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", remote);
      await world.run("app");
      await away(world);
      await world.remove("app");
      for (const dueInMs of [750, 1_500, 3_000]) {
        expect(await world.run("app")).toMatchObject({ outcome: "failed", dueInMs });
      }
      const why = await world.ready("app");
      expect(why).toContain(`unable to read KubeConfig secret '${namespace}/remote' error: secrets "remote" not found`);
      expect(why).toContain("set spec.deletionPolicy to Orphan");
      expect((await world.events("app")).filter((event) => event.includes("deletionPolicy"))).toHaveLength(1);
      expect(await there("a")).toBeDefined();
      expect(world.subscriptionsOf("app")).toEqual([
        configTopic({ cluster: "test", kind: "Secret", namespace, name: "remote" }),
      ]);
      await put(world, { value: kubeconfig });
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await there("a")).toBeUndefined();
      // With the reason that Ready had before the deletion.
      expect((await world.events("app")).slice(-2)).toEqual([
        `Normal ReconciliationSucceeded: ConfigMap/${namespace}/a deleted`,
        expect.stringMatching(/^Normal ReconciliationSucceeded: Reconciliation finished in /),
      ]);
      // What was never applied holds nothing up.
      await away(world);
      await world.kustomization("kept", remote);
      await world.run("kept");
      await world.remove("kept");
      expect(await world.run("kept")).toMatchObject({ outcome: "deleted" });
    });

    test("waits while its cluster does not answer, until the policy gives the objects up", async () => {
      const { world, other, there } = await beginBoth();
      await using front = await tcpFront(other.config.server);
      const server = new URL(other.config.server);
      server.port = String(front.port);
      await put(world, { value: inlineKubeconfig({ ...other.config, server }) });
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", remote);
      await world.run("app");
      expect(await there("a")).toBeDefined();
      await front.shut();
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      expect(await world.ready("app")).toMatch(/^False ReconciliationFailed: [^]*set spec\.deletionPolicy to Orphan/);
      await world.patch("app", { spec: { deletionPolicy: "Orphan" } }, { manager: "test" });
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await world.get("Kustomization", "app", kustomize)).toBeUndefined();
      expect(await there("a")).toBeDefined();
    });
  });
}
