import { describe, expect, test } from "vitest";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { workspace } from "./workspace.ts";

export function getContract(start: StartCluster): void {
  describe("get", () => {
    const space = workspace(start);
    const { create, get, configMapRef } = space;

    test("of a missing object is undefined", async () => {
      expect(await get(configMapRef("none"))).toBeUndefined();
    });

    test("of an object in a missing namespace is undefined", async () => {
      expect(await get({ ...configMapRef(), namespace: "contract-nowhere" })).toBeUndefined();
    });

    test("of a kind or version that is not served is NoMatch, never undefined", async () => {
      const kind = await faultOf(
        get({ group: "example.test", version: "v1", kind: "Widget", namespace: space.namespace, name: "a" }),
      );
      const version = await faultOf(get({ ...configMapRef(), version: "v7" }));
      expect([kind.reason, version.reason]).toEqual(["NoMatch", "NoMatch"]);
    });

    test("returns an object in the requested version", async () => {
      const autoscaler = {
        apiVersion: "autoscaling/v1",
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "a", namespace: space.namespace },
        spec: {
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "app" },
          maxReplicas: 3,
          targetCPUUtilizationPercentage: 60,
        },
      };
      await create(autoscaler);
      const ref = { group: "autoscaling", kind: "HorizontalPodAutoscaler", namespace: space.namespace, name: "a" };
      expect(await get({ ...ref, version: "v2" })).toMatchObject({
        apiVersion: "autoscaling/v2",
        spec: { metrics: [{ type: "Resource", resource: { target: { averageUtilization: 60 } } }] },
      });
    });
  });
}
