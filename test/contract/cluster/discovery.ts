import { describe, expect, test } from "vitest";
import { refOf } from "../../../lib/core/manifest.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { widgetDefinition } from "./widget-definition.ts";
import { workspace } from "./workspace.ts";

export function discoveryContract(start: StartCluster): void {
  describe("discovery", () => {
    const space = workspace(start);
    const { apply, create, get, remove, signal } = space;

    test("returns a kind's plural, its scope and its verbs", async () => {
      const found = await space.cluster.resource({ group: "apps", kind: "Deployment" }, signal);
      expect(found).toMatchObject({ group: "apps", version: "v1", plural: "deployments", namespaced: true });
      expect(found?.verbs).toContain("patch");
      const namespaces = await space.cluster.resource({ group: "", kind: "Namespace", version: "v1" }, signal);
      expect(namespaces).toMatchObject({ plural: "namespaces", namespaced: false });
    });

    const ask = (method: "GET" | "DELETE", path: string) =>
      space.api.send({ verb: "get", method, path, repeatable: true }, signal);

    test("lists the paths of the server at its root", async () => {
      const { status, text } = await ask("GET", "/");
      expect(status).toBe(200);
      const paths = ["/api/v1", "/apis", "/apis/apps/v1", "/openapi/v3", "/readyz", "/version"];
      expect(JSON.parse(text)).toEqual({ paths: expect.arrayContaining(paths) });
    });

    test("returns the verbs that a resource does not support", async () => {
      const { status, text } = await ask("DELETE", "/apis/apps/v1/deployments");
      const message = "the server does not allow this method on the requested resource";
      expect([status, JSON.parse(text)]).toMatchObject([405, { reason: "MethodNotAllowed", message }]);
    });

    test("prefers the version that the server prefers", async () => {
      const query = { group: "autoscaling", kind: "HorizontalPodAutoscaler" };
      expect(await space.cluster.resource(query, signal)).toMatchObject({ version: "v2" });
      expect(await space.cluster.resource({ ...query, version: "v1" }, signal)).toMatchObject({ version: "v1" });
    });

    test("returns every served kind once, in the version that the server prefers", async () => {
      const { resources, silentGroups } = await space.cluster.served(signal);
      const named = resources.map(({ group, kind }) => `${group}/${kind}`);
      expect(new Set(named).size).toBe(named.length);
      expect(named).toEqual(
        expect.arrayContaining(["/ConfigMap", "apps/Deployment", "rbac.authorization.k8s.io/ClusterRole"]),
      );
      const scaler = resources.find(({ kind }) => kind === "HorizontalPodAutoscaler");
      expect(scaler).toMatchObject({ group: "autoscaling", version: "v2", namespaced: true });
      expect(scaler?.verbs).toContain("list");
      expect(silentGroups).toEqual([]);
    });

    test("does not find kinds that are not served", async () => {
      expect(await space.cluster.resource({ group: "example.test", kind: "Widget" }, signal)).toBeUndefined();
      expect(
        await space.cluster.resource({ group: "apps", kind: "Deployment", version: "v7" }, signal),
      ).toBeUndefined();
    });

    test("finds a kind that was just defined, and no longer finds it after its removal", async () => {
      const group = `${space.namespace}.example.test`;
      const query = { group, kind: "Widget" };
      expect(await space.cluster.resource(query, signal)).toBeUndefined();
      const definition = await create(widgetDefinition(group));
      await expect.poll(() => space.cluster.resource(query, signal)).toBeDefined();
      const widget = {
        apiVersion: `${group}/v1`,
        kind: "Widget",
        metadata: { name: "a", namespace: space.namespace },
        spec: { size: 1 },
      };
      await expect
        .poll(() =>
          apply(widget).then(
            ({ created }) => created,
            () => false,
          ),
        )
        .toBe(true);
      expect(
        await space.cluster.list({ group, version: "v1", kind: "Widget", namespace: space.namespace }, signal),
      ).toMatchObject([{ apiVersion: `${group}/v1`, kind: "Widget", spec: { size: 1 } }]);
      await remove(refOf(definition));
      const reasonOfGet = () =>
        get(refOf(widget)).then(
          () => "there",
          (error: unknown) => error instanceof ApiError && error.reason,
        );
      await expect.poll(reasonOfGet).toBe("NoMatch");
    });

    test("identifies a cluster by a stable uid", async () => {
      const uid = await space.cluster.uid(signal);
      expect(uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(await space.cluster.uid(signal)).toBe(uid);
    });
  });
}
