import { describe, expect, test } from "vitest";
import { isJsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { Outage } from "../../../lib/core/outage.ts";
import { ApiError, type Cluster } from "../../../lib/core/ports/cluster.ts";
import {
  maxOwnerFieldChars,
  type OwnInstallation,
  ownerCheck,
  ownerIn,
  takeOver,
} from "../../../lib/gate/cluster-owner.ts";
import { noCluster } from "../../doubles/no-cluster.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";

const { signal } = new AbortController();
const clock = steppedClock();
const since = "2026-11-22T12:00:00.000Z";

function installation(id: string): OwnInstallation {
  return { id, where: `${id}-host:/state`, version: "1.2.3", takeOverCommand: `sluice take-over --installation ${id}` };
}
const [a, b] = [installation("a"), installation("b")];

/** The one object, kept as an API server does: created once, changed under its version. Calls are counted. */
function clusterWith(data?: object) {
  const self: { object: LiveObject | undefined; uid: string; calls: string[]; fault?: (verb: string) => void } = {
    object: data && objectOf(data, 1),
    uid: "cluster-1",
    calls: [],
  };
  const call = (verb: string): void => {
    self.calls.push(verb);
    self.fault?.(verb);
  };
  const cluster: Cluster = {
    ...noCluster,
    uid: async () => self.uid,
    get: async () => (call("get"), self.object),
    create: async (manifest) => {
      call("create");
      if (self.object !== undefined) throw new ApiError({ code: 409, reason: "AlreadyExists", message: "exists" });
      const { metadata, data: created } = manifest;
      expect([manifest.kind, metadata.namespace, metadata.name]).toEqual(["ConfigMap", "kube-system", "sluice-owner"]);
      self.object = objectOf(isJsonObject(created) ? created : {}, 1);
      return self.object;
    },
    patch: async (_ref, { body }) => {
      call("patch");
      const { metadata, data: merged } = isJsonObject(body) ? body : {};
      const version = self.object?.metadata.resourceVersion ?? "0";
      const asked = isJsonObject(metadata) ? metadata["resourceVersion"] : undefined;
      if (asked !== version) throw new ApiError({ code: 409, reason: "Conflict", message: "conflict" });
      const before = self.object?.["data"];
      const fields = { ...(isJsonObject(before) ? before : {}), ...(isJsonObject(merged) ? merged : {}) };
      const kept = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
      self.object = objectOf(kept, Number(version) + 1);
      return self.object;
    },
  };
  return {
    self,
    cluster,
    check: (who: OwnInstallation) => ownerCheck(who, { cluster, clock })(signal),
    take: (who: OwnInstallation) => takeOver(who, { cluster, clock }, signal),
  };
}

function objectOf(data: object, version: number): LiveObject {
  const metadata = { name: "sluice-owner", namespace: "kube-system", uid: "u", resourceVersion: String(version) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
}

const ofA = { installation: "a", where: "a-host:/state", version: "1.2.3", since, cluster: "cluster-1" };
const refusalOfB =
  "this cluster belongs to another Sluice, a at a-host:/state, version 1.2.3, since 2026-11-22T12:00:00.000Z; this is b, and two would undo each other's work. To move the cluster to this one, stop the other and run sluice take-over --installation b. If the other is gone for good, deleting ConfigMap/kube-system/sluice-owner works too: the first installation that looks then takes the cluster";

describe("the owner of a cluster", () => {
  test("is the first that looks, and is only read from then on", async () => {
    const { self, check } = clusterWith();
    expect(await check(a)).toBe(undefined);
    expect(self.object?.["data"]).toEqual(ofA);
    expect(await check(a)).toBe(undefined);
    expect(self.calls).toEqual(["get", "create", "get"]);
  });

  test("lets no other installation in, which is told who it is and how to take over", async () => {
    const { self, check } = clusterWith(ofA);
    expect(await check(b)).toBe(refusalOfB);
    expect(self.calls).toEqual(["get"]);
  });

  test("is one of two that look at the same moment", async () => {
    const { self, check } = clusterWith();
    const answers = await Promise.all([check(a), check(b)]);
    expect(answers).toEqual([undefined, refusalOfB]);
    expect(self.object?.["data"]).toEqual(ofA);
  });

  test("is written anew where somebody has deleted the object", async () => {
    const { self, check } = clusterWith(ofA);
    self.object = undefined;
    expect(await check(a)).toBe(undefined);
    expect(self.object).toMatchObject({ data: ofA });
  });

  test("is known again where the answer to its creation was lost", async () => {
    const { self, cluster, check } = clusterWith();
    const create: Cluster["create"] = async (...args) => {
      await cluster.create(...args);
      throw new ApiError({ code: 0, reason: "Unreachable", message: "no answer" });
    };
    const unsure = ownerCheck(a, { cluster: { ...cluster, create }, clock });
    await expect(unsure(signal)).rejects.toThrow(Outage);
    expect(await check(a)).toBe(undefined);
    expect(self.calls).toEqual(["get", "create", "get"]);
  });

  test("of another cluster, whose object came here with a backup, is none", async () => {
    const { self, check } = clusterWith({ ...ofA, cluster: "cluster-0" });
    expect(await check(b)).toBe(undefined);
    expect(self.object?.["data"]).toMatchObject({ installation: "b", where: "b-host:/state", cluster: "cluster-1" });
  });

  test("outlives a release: a version that was written stays until somebody takes over", async () => {
    const { self, check } = clusterWith(ofA);
    expect(await check({ ...a, version: "2.0.0" })).toBe(undefined);
    expect(self.calls).toEqual(["get"]);
  });

  test.each([
    { data: {}, fault: "data.installation" },
    { data: { ...ofA, installation: "" }, fault: "data.installation" },
    { data: { ...ofA, since: "x".repeat(maxOwnerFieldChars + 1) }, fault: "data.since" },
  ])("that cannot be read closes the cluster to all, and the mend is told: $fault", async ({ data, fault }) => {
    const { self, check, take } = clusterWith(data);
    for (const who of [a, b]) expect(await check(who)).toContain(fault);
    expect(await check(b)).toContain(
      "run sluice take-over --installation b to give the cluster to this installation, or delete the object",
    );
    expect(self.calls).toEqual(["get", "get", "get"]);
    expect(await take(b)).toEqual({ former: undefined, isChanged: true });
    expect(await check(b)).toBe(undefined);
  });

  test.each([
    { fault: new ApiError({ code: 0, reason: "Unreachable", message: "no answer came" }), text: "no answer came" },
    {
      fault: new ApiError({ code: 403, reason: "Forbidden", message: 'User "x" cannot get it' }),
      text: 'User "x" cannot get it. Allow Sluice to get, create and patch ConfigMaps in namespace kube-system',
    },
    { fault: new ApiError({ code: 422, reason: "Invalid", message: "a policy says no" }), text: "a policy says no" },
  ])("that cannot be found out is no fault of any object: $text", async ({ fault, text }) => {
    for (const verb of ["get", "create"]) {
      const { self, check } = clusterWith();
      self.fault = (called) => {
        if (called === verb) throw fault;
      };
      const error: unknown = await check(a).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Outage);
      expect(error).toMatchObject({
        message: `ConfigMap/kube-system/sluice-owner, which names the owner of this cluster, cannot be used: ${text}`,
      });
    }
  });

  test("has its place cut where that is too long to be read again", async () => {
    const { check } = clusterWith();
    const far = { ...a, where: "/far".repeat(maxOwnerFieldChars) };
    expect(await check(far)).toBe(undefined);
    expect(await check(far)).toBe(undefined);
  });

  test("is not fought for without an end where the object changes each time", async () => {
    const { self, check } = clusterWith({ ...ofA, cluster: "cluster-0" });
    self.fault = (verb) => {
      if (verb === "patch")
        throw new ApiError({ code: 409, reason: "Conflict", message: "the object has been modified" });
    };
    await expect(check(a)).rejects.toThrow("the object has been modified");
    expect(self.calls.filter((verb) => verb === "patch")).toHaveLength(3);
  });
});

describe("taking over", () => {
  test("gives the cluster to another, and says whose it was", async () => {
    const { self, check, take } = clusterWith(ofA);
    const { where: _where, ...plain } = b;
    expect(await take(plain)).toEqual({
      former: { id: "a", where: "a-host:/state", version: "1.2.3", since },
      isChanged: true,
    });
    expect(self.object?.["data"]).toEqual({ installation: "b", version: "1.2.3", since, cluster: "cluster-1" });
    expect(await check(b)).toBe(undefined);
    expect(await check(a)).toContain("belongs to another Sluice, b, version 1.2.3");
  });

  test("of a cluster that is its own, or of none, is no trouble", async () => {
    const { self, take } = clusterWith();
    expect(await take(a)).toEqual({ former: undefined, isChanged: true });
    expect(await take(a)).toMatchObject({ former: { id: "a" }, isChanged: false });
    expect(self.calls).toEqual(["get", "create", "get"]);
  });

  test("says so where somebody else does the same at the same time", async () => {
    const { take } = clusterWith(ofA);
    const both = await Promise.allSettled([take(b), take(installation("c"))]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(both[1]).toMatchObject({ reason: { message: expect.stringContaining("was changed by another client") } });
  });
});

test("an object that is not there says nothing", () => {
  expect(ownerIn(undefined, "cluster-1")).toBe(undefined);
});
