import { describe, expect, test } from "vitest";
import { ApiError, type Cluster } from "../../../lib/core/ports/cluster.ts";
import { Outage } from "../../../lib/core/ports/outage.ts";
import { ownerCheck } from "../../../lib/gate/cluster-owner.ts";
import { maxOwnerFieldChars } from "../../../lib/gate/owner-object.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";
import { a, b, clusterWith, installation, ofA, since } from "./owner-cluster.ts";

const { signal } = new AbortController();

const refusalOfB =
  "this cluster belongs to another Sluice, a at a-host:/state, version 1.2.3, since 2026-11-22T12:00:00.000Z; this is b, and two would undo each other's work. To move the cluster to this one, stop the other and run sluice take-over --installation b. If the other is gone for good, deleting ConfigMap/kube-system/sluice-owner works too: the first installation that looks then takes the cluster";

describe("the owner of a cluster", () => {
  test("is the first installation that looks, and is only read from then on", async () => {
    const { self, check } = clusterWith();
    expect(await check(a)).toBe(undefined);
    expect(self.object?.["data"]).toEqual(ofA);
    expect(await check(a)).toBe(undefined);
    expect(self.calls).toEqual(["get", "create", "get"]);
  });

  test("is not set if Sluice's definitions are missing, as after an uninstall; a cluster with an owner needs no check", async () => {
    const { self, cluster } = clusterWith();
    let asked = 0;
    const isInstalled = async () => asked++ > 0;
    const check = ownerCheck(a, { cluster, clock: steppedClock(), isInstalled });
    expect(await check(signal)).toMatchObject({
      reason: "owner",
      message: expect.stringMatching(/^this cluster has no owner and does not serve Kustomizations/),
    });
    expect([self.object, self.calls]).toEqual([undefined, ["get"]]);
    expect(await check(signal)).toBeUndefined();
    expect(await check(signal)).toBeUndefined();
    expect([self.object?.["data"], asked]).toEqual([ofA, 2]);
  });

  test("refuses another installation, with its own name and how to take over", async () => {
    const { self, check } = clusterWith(ofA);
    expect(await check(b)).toBe(refusalOfB);
    expect(self.calls).toEqual(["get"]);
  });

  test("is one of two installations that look at the same moment", async () => {
    const { self, check } = clusterWith();
    const answers = await Promise.all([check(a), check(b)]);
    expect(answers).toEqual([undefined, refusalOfB]);
    expect(self.object?.["data"]).toEqual(ofA);
  });

  test("is written again if the object was deleted", async () => {
    const { self, check } = clusterWith(ofA);
    self.object = undefined;
    expect(await check(a)).toBe(undefined);
    expect(self.object).toMatchObject({ data: ofA });
  });

  test("is recognised if the answer to its creation was lost", async () => {
    const { self, cluster, check } = clusterWith();
    const create: Cluster["create"] = async (...args) => {
      await cluster.create(...args);
      throw new ApiError({ code: 0, reason: "Unreachable", message: "no answer" });
    };
    const unsure = ownerCheck(a, { cluster: { ...cluster, create }, clock: steppedClock() });
    await expect(unsure(signal)).rejects.toThrow(Outage);
    expect(await check(a)).toBe(undefined);
    expect(self.calls).toEqual(["get", "create", "get"]);
  });

  test("of another cluster, whose object was restored from a backup, does not count", async () => {
    const { self, check } = clusterWith({ ...ofA, cluster: "cluster-0" });
    expect(await check(b)).toBe(undefined);
    expect(self.object?.["data"]).toMatchObject({ installation: "b", where: "b-host:/state", cluster: "cluster-1" });
  });

  test("stays after an upgrade: a written version stays until an installation takes over", async () => {
    const { self, check } = clusterWith(ofA);
    expect(await check({ ...a, version: "2.0.0" })).toBe(undefined);
    expect(self.calls).toEqual(["get"]);
  });

  test.each([
    { data: {}, fault: "data.installation" },
    { data: { ...ofA, installation: "" }, fault: "data.installation" },
    { data: { ...ofA, since: "x".repeat(maxOwnerFieldChars + 1) }, fault: "data.since" },
  ])("that cannot be read closes the cluster to all, and the mend is reported: $fault", async ({ data, fault }) => {
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
  ])("that cannot be determined is not blamed on any object: $text", async ({ fault, text }) => {
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

  test("publishes its webhook address with one write if that is new, and changes nothing else", async () => {
    const { self, check, take } = clusterWith(ofA);
    const [one, two] = ["https://one.example", "https://two.example"] as const;
    for (const webhookUrl of [one, one, two, two])
      expect(await check({ ...a, version: "9", webhookUrl })).toBe(undefined);
    expect(self.calls).toEqual(["get", "patch", "get", "get", "patch", "get"]);
    expect(self.object?.["data"]).toEqual({ ...ofA, webhookUrl: two });
    // A process that does not know leaves it; one that knows of none removes it.
    await check(a);
    expect(self.object?.["data"]).toEqual({ ...ofA, webhookUrl: two });
    await check({ ...a, webhookUrl: null });
    expect(self.object?.["data"]).toEqual(ofA);
    await check({ ...a, webhookUrl: one });
    await take(b);
    expect(self.object?.["data"]).not.toHaveProperty("webhookUrl");
  });

  test("publishes its webhook address with the claim, and not to another's or a paused cluster", async () => {
    const { self, check, pause } = clusterWith();
    const webhookUrl = "https://hooks.example";
    await check({ ...a, webhookUrl });
    expect(self.object?.["data"]).toEqual({ ...ofA, webhookUrl });
    await check({ ...b, webhookUrl: "https://other.example" });
    await pause("eve");
    await check({ ...a, webhookUrl: "https://other.example" });
    expect(self.object?.["data"]).toMatchObject({ webhookUrl });
  });

  test("is accepted even if the API server refuses the webhook address", async () => {
    const { self, check } = clusterWith({ ...ofA, webhookUrl: "no URL" });
    self.fault = (verb) => {
      if (verb === "patch") throw new ApiError({ code: 403, reason: "Forbidden", message: "no" });
    };
    expect(await check({ ...a, webhookUrl: "https://hooks.example" })).toBe(undefined);
    expect(self.calls).toEqual(["get", "patch"]);
  });

  test("has its address cut if that is too long to be read back", async () => {
    const { check } = clusterWith();
    const far = { ...a, where: "/far".repeat(maxOwnerFieldChars) };
    expect(await check(far)).toBe(undefined);
    expect(await check(far)).toBe(undefined);
  });

  test("is not retried forever if the object changes each time", async () => {
    const { self, check } = clusterWith({ ...ofA, cluster: "cluster-0" });
    self.fault = (verb) => {
      if (verb === "patch")
        throw new ApiError({ code: 409, reason: "Conflict", message: "the object has been modified" });
    };
    await expect(check(a)).rejects.toThrow("the object has been modified");
    expect(self.calls.filter((verb) => verb === "patch")).toHaveLength(3);
  });
});

describe("a take-over", () => {
  test("gives the cluster to another installation, and reports the old owner", async () => {
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

  test("of an own or unowned cluster succeeds", async () => {
    const { self, take } = clusterWith();
    expect(await take(a)).toEqual({ former: undefined, isChanged: true });
    expect(await take(a)).toMatchObject({ former: { id: "a" }, isChanged: false });
    expect(self.calls).toEqual(["get", "create", "get"]);
  });

  test("reports another take-over at the same time", async () => {
    const { take } = clusterWith(ofA);
    const both = await Promise.allSettled([take(b), take(installation("c"))]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(both[1]).toMatchObject({ reason: { message: expect.stringContaining("was changed by another client") } });
  });
});
