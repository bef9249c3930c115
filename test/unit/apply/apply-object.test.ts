import { describe, expect, test } from "vitest";
import { applyObject } from "../../../lib/apply/apply-object.ts";
import type { DesiredObject } from "../../../lib/apply/desired-objects.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { ApiError, type Cluster } from "../../../lib/core/ports/cluster.ts";
import { Secret } from "../../../lib/core/secret.ts";

const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "t", name: "a" };
const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "t" } };
const desired: DesiredObject = { id: "t_a__ConfigMap", ref, manifest, digest: "d", resource: undefined };
const kubectl = { manager: "kubectl", operation: "Update", apiVersion: "v1", fieldsV1: {} } as const;
const { signal } = new AbortController();
const unused = () => Promise.reject(new Error("not expected"));

/** A cluster on which somebody writes the object just before each of the first `writes` patches. */
function busyCluster(writes: number) {
  let version = 1;
  const patched: unknown[] = [];
  const live = (): LiveObject => ({
    ...manifest,
    metadata: { ...manifest.metadata, uid: "u", resourceVersion: String(version), managedFields: [kubectl] },
  });
  const cluster: Cluster = {
    uid: unused,
    resource: unused,
    list: unused,
    listMetadata: unused,
    create: unused,
    delete: unused,
    async *watch() {},
    get: async () => live(),
    apply: async () => ({ object: live(), created: false, warnings: [] }),
    patch: async (_ref, { body }) => {
      if (patched.push(body) <= writes) version++;
      const asked = JSON.stringify(body).includes(`"/metadata/resourceVersion","value":"${version}"`);
      if (!asked) throw new ApiError({ code: 409, reason: "Conflict", message: "the object has been modified" });
      return live();
    },
  };
  return { cluster, patched };
}

const clock = { now: () => 0, monotonic: () => 0, sleep: async () => {} };
const installationKey = new Secret("test");
const replacing = { owner: { name: "app", namespace: "t" }, inventory: [], otherOwner: async () => undefined };
const takeover = [{ op: "replace", path: "/metadata/resourceVersion", value: "1" }] as const;

describe("taking over an object that controllers keep writing", () => {
  test("the patch is made anew for the version that is there now", async () => {
    const { cluster, patched } = busyCluster(3);
    const applied = await applyObject(
      desired,
      { kind: "configure", takeover },
      { cluster, clock, replacing, installationKey },
      signal,
    );
    expect(applied.change).toBe("configured");
    expect(patched).toHaveLength(4);
  });

  test("one that is never still is told in Flux's words", async () => {
    const { cluster } = busyCluster(100);
    const applying = applyObject(
      desired,
      { kind: "configure", takeover },
      { cluster, clock, replacing, installationKey },
      signal,
    );
    await expect(applying).rejects.toThrow(
      "ConfigMap/t/a metadata.managedFields cleanup failed: the object has been modified",
    );
  });
});
