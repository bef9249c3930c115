import { expect } from "vitest";
import { isJsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { ApiError, type Cluster } from "../../../lib/core/ports/cluster.ts";
import { letGo, type OwnInstallation, ownerCheck, takeOver } from "../../../lib/gate/cluster-owner.ts";
import { pauseCluster, pauseOf, resumeCluster } from "../../../lib/gate/pause.ts";
import { noCluster } from "../../doubles/no-cluster.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";

const { signal } = new AbortController();
const clock = steppedClock();
export const since = "2026-11-22T12:00:00.000Z";

export function installation(id: string): OwnInstallation {
  return { id, where: `${id}-host:/state`, version: "1.2.3", takeOverCommand: `sluice take-over --installation ${id}` };
}
export const [a, b] = [installation("a"), installation("b")];

/** The one object, kept as an API server does: created once, changed under its version. Calls are counted. */
export function clusterWith(data?: object) {
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
    delete: async (_ref, { resourceVersion }) => {
      call("delete");
      if (resourceVersion !== self.object?.metadata.resourceVersion)
        throw new ApiError({ code: 409, reason: "Conflict", message: "conflict" });
      self.object = undefined;
      return "deleted";
    },
  };
  return {
    self,
    cluster,
    check: async (who: OwnInstallation) => (await ownerCheck(who, { cluster, clock })(signal))?.message,
    refusal: (who: OwnInstallation) => ownerCheck(who, { cluster, clock })(signal),
    pause: (by: string) => pauseCluster(by, { cluster, clock }, signal),
    resume: () => resumeCluster(cluster, signal),
    paused: () => pauseOf(cluster, signal),
    letGo: (who: OwnInstallation) => letGo(who, cluster, signal),
    take: (who: OwnInstallation) => takeOver(who, { cluster, clock }, signal),
  };
}

function objectOf(data: object, version: number): LiveObject {
  const metadata = { name: "sluice-owner", namespace: "kube-system", uid: "u", resourceVersion: String(version) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
}

export const ofA = { installation: "a", where: "a-host:/state", version: "1.2.3", since, cluster: "cluster-1" };
