import { describe, expect, test } from "vitest";
import { inlineKubeconfig, lyingFront } from "../../doubles/cluster-fronts.ts";
import { type HomeAndOther, inBoth, put, remote } from "./kubeconfig-scene.ts";
import { configMap, namespaceNamed } from "./sample-manifests.ts";

/** Servers of kubeconfigs that do not tell the truth. They have no credentials for a real control plane. */
export function lyingServerStories(name: string, begin: () => Promise<HomeAndOther>): void {
  const beginBoth = async () => inBoth(await begin());

  describe(`spec.kubeConfig with a false server on ${name}`, () => {
    test("that claims to be our home cluster gets its own identity, and its claims protect nothing at home", async () => {
      const { world, home, other, there } = await beginBoth();
      const { namespace, signal } = world;
      const uid = await home.cluster.uid(signal);
      const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "nobody", namespace } };
      const { metadata } = await home.cluster.create(account, { manager: "test" }, signal);
      const kubeSystem = { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system", uid } };
      const userInfo = { username: `system:serviceaccount:${namespace}:nobody`, uid: metadata.uid };
      await using told = await lyingFront(other.config, { "/namespaces/kube-system": { code: 200, body: kubeSystem } });
      await using taken = await lyingFront(other.config, {
        "/namespaces/kube-system": { code: 403, body: statusOf(403, "Forbidden") },
        "/selfsubjectreviews": { code: 201, body: { kind: "SelfSubjectReview", status: { userInfo } } },
      });
      await world.publish("v1", [], folders(["kept", "a", "b"], ["a", "b"]));
      await world.kustomization("victim", { path: "a" });
      await world.run("victim");
      for (const [liar, front] of Object.entries({ told, taken })) {
        await put(world, { value: inlineKubeconfig(front.configOf(other.config)) }, liar);
        await world.kustomization(liar, {
          ...{ path: "b", serviceAccountName: "nobody", kubeConfig: { secretRef: { name: liar } } },
        });
        await world.run(liar);
      }
      await world.publish("v2", [], folders(["kept", "b"], ["a", "b"]));
      await world.run("victim");
      expect(await world.ready("victim")).toMatch(/^True/);
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      await world.remove("victim");
      expect(await world.run("victim")).toMatchObject({ outcome: "deleted" });
      expect(await world.get("ConfigMap", "b")).toBeUndefined();
      expect(await there("kept")).toBeUndefined();
    });

    test.each([400, 404, 422])(
      "that answers %d to everything is reported, blocks no other object, and can be given up",
      async (code) => {
        const { world, other, there } = await beginBoth();
        const { cluster: home, signal } = world;
        const held = `held-${code}`;
        const inHeld = { ...configMap("x"), metadata: { name: "x", namespace: held } };
        await other.cluster.create(namespaceNamed(held), { manager: "test" }, signal);
        const answers = {};
        await using front = await lyingFront(other.config, answers);
        await put(world, { value: inlineKubeconfig(front.configOf(other.config)) });
        await world.publish("v1", [], { folders: { a: [namespaceNamed(held), configMap("a")], b: [inHeld] } });
        await world.kustomization("victim", { path: "a" });
        await world.kustomization("odd", { ...remote, path: "b" });
        for (const owner of ["victim", "odd"]) await world.run(owner);
        expect(await world.ready("odd")).toMatch(/^True/);

        Object.assign(answers, { "/": { code, body: statusOf(code, "Odd") } });
        await put(world, { value: inlineKubeconfig(front.configOf(other.config)) });
        expect(await world.run("odd")).toMatchObject({ outcome: "failed" });
        expect(await world.ready("odd")).toMatch(/^False ReconciliationFailed: .*odd/s);
        await world.publish("v2", [], { folders: { a: [configMap("a")], b: [inHeld] } });
        const asked = (await other.asked()).length;
        await world.run("victim");
        expect(await world.ready("victim")).toMatch(/^True ReconciliationSucceeded: Applied revision: v2/);
        expect((await other.asked()).length).toBe(asked);
        const namespaceRef = { group: "", version: "v1", kind: "Namespace", namespace: "", name: held };
        const gone = await home.get(namespaceRef, signal);
        expect(gone?.metadata.deletionTimestamp ?? "gone").toBeTruthy();

        await world.remove("odd");
        expect(await world.run("odd")).toMatchObject({ outcome: "failed" });
        await world.patch("odd", { spec: { deletionPolicy: "Orphan" } }, { manager: "test" });
        expect(await world.run("odd")).toMatchObject({ outcome: "deleted" });
        expect(await there("a")).toBeUndefined();
      },
    );
  });
}

const folders = (a: readonly string[], b: readonly string[]) => ({
  folders: { a: a.map((one) => configMap(one)), b: b.map((one) => configMap(one)) },
});

const statusOf = (code: number, reason: string) => ({
  ...{ kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: reason.toLowerCase() },
});
