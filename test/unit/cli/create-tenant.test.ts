import { describe, expect, test } from "vitest";
import { applyBinding } from "../../../cli/create-tenant.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import { ApiError, type WriteOptions } from "../../../lib/core/ports/cluster.ts";
import { fakeSession } from "./fake-session.ts";

const binding: Manifest = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "RoleBinding",
  metadata: { name: "dev-reconciler", namespace: "team" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" },
};
const live: LiveObject = {
  ...binding,
  metadata: { name: "dev-reconciler", namespace: "team", uid: "1" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
};

/** Applies the binding over one with another role. @param refuses which of the writes the API server refuses */
async function applied(refuses: (options: WriteOptions) => boolean) {
  const writes: string[] = [];
  const session = fakeSession([live]);
  const cluster: typeof session.cluster = {
    ...session.cluster,
    create({ metadata }, options) {
      writes.push(options.dryRun === true ? `try ${metadata.name}` : `create ${metadata.name}`);
      if (!refuses(options)) return Promise.resolve(live);
      const message = `rolebindings "${metadata.name}" is forbidden: attempting to grant extra privileges`;
      return Promise.reject(new ApiError({ code: 403, reason: "Forbidden", message }));
    },
    delete(ref, { uid = "" }) {
      writes.push(`delete ${ref.name} ${uid}`);
      return Promise.resolve("deleted");
    },
  };
  const failure = await applyBinding(binding, { ...session, cluster }).then(
    () => "",
    (error: Error) => error.message,
  );
  return { writes, failure, err: session.output.err };
}

describe("sluice create tenant with another role", () => {
  test("keeps the role binding if the API server refuses the new one", async () => {
    const { writes, failure } = await applied(() => true);
    expect(writes).toEqual(["try dev-reconciler-sluice-check"]);
    expect(failure).toBe(
      'role binding dev-reconciler keeps its role: rolebindings "dev-reconciler" is forbidden: attempting to grant extra privileges',
    );
  });

  test("says that the tenant has no rights if the role binding is deleted and its successor fails", async () => {
    const { writes, failure, err } = await applied(({ dryRun }) => dryRun !== true);
    expect(writes).toEqual(["try dev-reconciler-sluice-check", "delete dev-reconciler 1", "create dev-reconciler"]);
    expect(failure).toContain("is forbidden");
    expect(err).toContain("the tenant has no rights in namespace team until you run the command again");
  });
});
