import { describe, expect, test } from "vitest";
import { ApiError, type Cluster } from "../../../lib/core/ports/cluster.ts";
import { describePause, pauseCluster } from "../../../lib/gate/pause.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";
import { a, b, clusterWith, installation, ofA, since } from "./owner-cluster.ts";

const { signal } = new AbortController();
const ofEve = { paused: "true", pausedBy: "eve@laptop", pausedAt: since };
const eve = { by: "eve@laptop", since };

describe("a pause", () => {
  test("closes the cluster to its owner, reports by whom and how to resume, and costs no further read", async () => {
    const { self, refusal, pause, resume } = clusterWith(ofA);
    expect(await pause("eve@laptop")).toEqual({ pause: eve, isChanged: true });
    expect(self.object?.["data"]).toEqual({ ...ofA, ...ofEve });
    self.calls.length = 0;
    expect(await refusal(a)).toEqual({
      reason: "paused",
      message: `this cluster is paused by eve@laptop since ${since}: run sluice resume to go on`,
    });
    expect(self.calls).toEqual(["get"]);
    expect(await resume()).toEqual(eve);
    expect(self.object?.["data"]).toEqual(ofA);
    expect(await refusal(a)).toBe(undefined);
  });

  test("keeps its author when another user pauses again, and a second resume changes nothing", async () => {
    const { self, pause, resume } = clusterWith(ofA);
    await pause("eve@laptop");
    expect(await pause("bob@desk")).toEqual({ pause: eve, isChanged: false });
    await resume();
    expect(await resume()).toBe(undefined);
    expect(self.calls.filter((call) => call === "patch")).toHaveLength(2);
  });

  test("of a cluster without an owner blocks every installation, and the first that looks after resume becomes the owner", async () => {
    const { self, check, pause, resume } = clusterWith();
    await pause("eve@laptop");
    expect(self.object?.["data"]).toEqual({ ...ofEve, cluster: "cluster-1" });
    expect(await check(a)).toContain("paused by eve@laptop");
    expect(self.object?.["data"]).not.toHaveProperty("installation");
    await resume();
    expect(await check(b)).toBe(undefined);
    expect(self.object?.["data"]).toMatchObject({ installation: "b" });
  });

  test("stays through a take-over, because it belongs to the cluster and not to its owner", async () => {
    const { self, check, refusal, pause, take } = clusterWith(ofA);
    await pause("eve@laptop");
    expect(await take(b)).toMatchObject({ former: { id: "a" }, isChanged: true });
    expect(self.object?.["data"]).toMatchObject({ installation: "b", ...ofEve });
    expect(await refusal(b)).toMatchObject({ reason: "paused" });
    expect(await check(a)).toContain("belongs to another Sluice, b");
  });

  test("stays when the owner leaves the cluster", async () => {
    const { self, pause, letGo } = clusterWith({ ...ofA, webhookUrl: "https://hooks.example.test" });
    await pause("eve@laptop");
    await letGo(a);
    expect(self.object?.["data"]).toEqual({ ...ofEve, cluster: "cluster-1" });
  });

  test("in an object whose owner cannot be read stays through the take-over that repairs it", async () => {
    const { self, pause, paused, take, refusal } = clusterWith({ ...ofA, version: "" });
    await pause("eve@laptop");
    expect(await refusal(a)).toMatchObject({ reason: "owner" });
    expect(await paused()).toEqual(eve);
    await take(a);
    expect(self.object?.["data"]).toEqual({ ...ofA, ...ofEve });
  });

  test("of another cluster, whose object was restored from a backup, does not count before or after this one has an owner", async () => {
    const { self, check, paused } = clusterWith({ ...ofA, ...ofEve, cluster: "cluster-0" });
    expect(await paused()).toBe(undefined);
    expect(await check(b)).toBe(undefined);
    expect(self.object?.["data"]).not.toHaveProperty("paused");
    expect(await check(b)).toBe(undefined);
  });

  test.each([
    { paused: "true", words: "paused" },
    { paused: "yes", words: "paused" },
    { paused: "", words: "paused" },
    { paused: "false", words: undefined },
  ])("written by hand as '$paused' is read as: $words", async ({ paused: written, words }) => {
    const { check, paused } = clusterWith({ ...ofA, paused: written });
    const pause = await paused();
    expect(pause && describePause(pause)).toBe(words);
    const refusal = words === undefined ? undefined : "this cluster is paused: run sluice resume to go on";
    expect(await check(a)).toBe(refusal);
  });
});

describe("concurrent pauses, resumes and claims", () => {
  test("keep each other's fields", async () => {
    const { self, check, pause } = clusterWith();
    await Promise.all([check(a), pause("eve@laptop"), check(b)]);
    expect(self.object?.["data"]).toMatchObject({ ...ofEve, cluster: "cluster-1" });
    const taken = clusterWith(ofA);
    const [, took] = await Promise.allSettled([taken.pause("eve@laptop"), taken.take(installation("c"))]);
    const owner = took.status === "fulfilled" ? "c" : "a";
    expect(taken.self.object?.["data"]).toMatchObject({ ...ofEve, installation: owner });
  });

  test("a pause that conflicts with other writers each time gives up with a reason", async () => {
    const { self, pause } = clusterWith(ofA);
    self.fault = (verb) => {
      if (verb === "patch") throw new ApiError({ code: 409, reason: "Conflict", message: "modified" });
    };
    await expect(pause("eve")).rejects.toThrow("ConfigMap/kube-system/sluice-owner is changed by other clients");
    expect(self.calls.filter((call) => call === "patch")).toHaveLength(5);
  });

  test("a pause that must not be written reports the API server's message", async () => {
    const { cluster } = clusterWith(ofA);
    const patch: Cluster["patch"] = () =>
      Promise.reject(new ApiError({ code: 403, reason: "Forbidden", message: "eve cannot patch configmaps" }));
    const paused = pauseCluster("eve", { cluster: { ...cluster, patch }, clock: steppedClock() }, signal);
    await expect(paused).rejects.toThrow("eve cannot patch configmaps");
  });
});
