import { describe, expect, test } from "vitest";
import type { StartCluster } from "./cluster-under-test.ts";
import { workspace } from "./workspace.ts";

export function subresourcesContract(start: StartCluster): void {
  describe("subresources", () => {
    const space = workspace(start);
    const { apply, deployment } = space;

    test("to a subresource leaves the rest of the object", async () => {
      await apply(deployment());
      const conditions = [{ type: "Progressing", status: "True", reason: "Contract", message: "m" }];
      const { apiVersion, kind, metadata } = deployment();
      const { object } = await apply({ apiVersion, kind, metadata, status: { conditions } }, "beta", {
        subresource: "status",
        force: true,
      });
      expect(object).toMatchObject({ spec: { replicas: 0 }, metadata: { generation: 1 } });
      const entry = object.metadata.managedFields?.find(({ manager }) => manager === "beta");
      expect(entry).toMatchObject({ operation: "Apply", subresource: "status" });
    });
  });
}
