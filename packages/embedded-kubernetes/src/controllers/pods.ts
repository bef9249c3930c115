import type { ApiObject } from "../core/api-object.ts";
import type { JsonObject } from "../core/json.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../core/json-fields.ts";
import { qosClass } from "../rules/qos-class.ts";
import { type Controller, keyOf, parseKey, type Tools } from "./controller.ts";
import {
  isDeleting,
  isSameResource,
  metadataOf,
  nameOf,
  namespaceOf,
  sameJson,
  timestamp,
  withConditions,
} from "./object-facts.ts";
import { pods, removePod } from "./owned-pods.ts";
import { type SimulatedFault, simulatedFault } from "./simulated-fault.ts";

/** Plays kubelet: Pods run, become ready, end if they are meant to, and go when they are deleted. */
export const podController: Controller = {
  name: "pods",
  keysOf: (event) =>
    isSameResource(event, pods) && event.type !== "DELETED"
      ? [keyOf(namespaceOf(event.object), nameOf(event.object))]
      : [],
  reconcile(key, tools) {
    const { namespace, name } = parseKey(key);
    const pod = tools.client.get(pods, namespace, name);
    if (pod === undefined) return;
    if (isDeleting(pod)) {
      if ((numberOf(metadataOf(pod), "deletionGracePeriodSeconds") ?? 0) > 0) removePod(pod, tools);
      return;
    }
    play(pod, tools);
  },
};

type Play = "starting" | "running" | "unready" | "failing" | "succeeded" | "failed";

function play(pod: ApiObject, tools: Tools): void {
  const status = objectOf(pod, "status") ?? {};
  const phase = textOf(status, "phase");
  if (phase === "Succeeded" || phase === "Failed") return;
  const now = tools.now();
  const fault = simulatedFault(pod);
  const startedAt = textOf(status, "startTime") || timestamp(now);
  const leftMs = fault.kind === "slow" ? Date.parse(startedAt) + fault.delayMs - now.getTime() : 0;
  if (leftMs > 0) tools.again(leftMs);
  const wanted = statusOf(pod, status, playOf(pod, fault, leftMs), startedAt, timestamp(now));
  if (!sameJson(wanted, status)) tools.client.update(pods, { ...pod, status: wanted }, { subresource: "status" });
}

/** A Pod that restarts keeps running; any other has done its work as soon as it runs. */
function playOf(pod: ApiObject, fault: SimulatedFault, leftMs: number): Play {
  const isLasting = textOf(objectOf(pod, "spec"), "restartPolicy") === "Always";
  switch (fault.kind) {
    case "fail-image":
      if (hasImageOf(fault.tag, pod)) return isLasting ? "failing" : "failed";
      return isLasting ? "running" : "succeeded";
    case "never-ready":
      return "unready";
    case "fail":
      return isLasting ? "failing" : "failed";
    case "slow":
      if (leftMs > 0) return "starting";
      return isLasting ? "running" : "succeeded";
    case "none":
      return isLasting ? "running" : "succeeded";
  }
}

function hasImageOf(tag: string, pod: ApiObject): boolean {
  const images = objectsOf(objectOf(pod, "spec"), "containers").map((container) => textOf(container, "image"));
  return images.some((image) => image.split("@", 1)[0]?.endsWith(`:${tag}`) === true);
}

function statusOf(pod: ApiObject, before: JsonObject, act: Play, startedAt: string, now: string): JsonObject {
  const spec = objectOf(pod, "spec");
  const isReady = act === "running";
  const isOver = act === "succeeded" || act === "failed";
  const reason = isOver ? "PodCompleted" : "ContainersNotReady";
  const names = objectsOf(spec, "containers").map((container) => textOf(container, "name"));
  const message = `containers with unready status: [${names.join(" ")}]`;
  const unready = isReady ? {} : isOver ? { reason } : { reason, message };
  const conditions = [
    { type: "PodReadyToStartContainers", status: isOver ? "False" : "True" },
    { type: "Initialized", status: "True", ...(isOver ? { reason } : {}) },
    { type: "Ready", status: isReady ? "True" : "False", ...unready },
    { type: "ContainersReady", status: isReady ? "True" : "False", ...unready },
    { type: "PodScheduled", status: "True" },
  ].map((condition) => ({ ...condition, lastProbeTime: null }));
  return {
    ...before,
    phase: phaseOf(act),
    conditions: withConditions(before, conditions, now),
    startTime: startedAt,
    qosClass: textOf(before, "qosClass") || qosClass(spec),
    containerStatuses: objectsOf(spec, "containers").map((container) => containerStatus(container, act, startedAt)),
  };
}

function phaseOf(act: Play): string {
  switch (act) {
    case "succeeded":
      return "Succeeded";
    case "failed":
      return "Failed";
    case "starting":
    case "running":
    case "unready":
    case "failing":
      return "Running";
  }
}

/** A container waits in back-off only after it has ended several times. */
const restartsOfFailing = 3;

function containerStatus(container: JsonObject, act: Play, startedAt: string): JsonObject {
  return {
    name: textOf(container, "name"),
    image: textOf(container, "image"),
    imageID: "",
    ready: act === "running",
    started: act === "running" || act === "unready" || act === "starting",
    restartCount: act === "failing" ? restartsOfFailing : 0,
    lastState: act === "failing" ? stateOf("failed", startedAt) : {},
    state: stateOf(act, startedAt),
  };
}

function stateOf(act: Play, startedAt: string): JsonObject {
  const ended = { startedAt, finishedAt: startedAt };
  switch (act) {
    case "succeeded":
      return { terminated: { exitCode: 0, reason: "Completed", ...ended } };
    case "failed":
      return { terminated: { exitCode: 1, reason: "Error", ...ended } };
    case "failing":
      return {
        waiting: {
          reason: "CrashLoopBackOff",
          message: "back-off restarting failed container (simulated by annotation)",
        },
      };
    case "starting":
    case "running":
    case "unready":
      return { running: { startedAt } };
  }
}
