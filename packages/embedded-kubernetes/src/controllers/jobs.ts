import type { ApiObject } from "../core/api-object.ts";
import type { JsonObject } from "../core/json.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../core/json-fields.ts";
import type { Tools } from "./controller.ts";
import { nameOf, namespaceOf, sameJson, timestamp, uidOf, withConditions } from "./object-facts.ts";
import { createPod, deletePod, handOnFault, phaseOf, pods, podsOf } from "./owned-pods.ts";
import { ownerController } from "./owner-controller.ts";

const jobs = { group: "batch", resource: "jobs" };

/** Runs a Job's Pods to their end. A Pod that fails fails the Job: a simulated failure would only repeat itself. So does its deadline. */
export const jobController = ownerController({
  name: "jobs",
  kind: "Job",
  resource: jobs,
  owned: pods,
  keep: (job, tools) => {
    if (isFinished(job)) expire(job, tools);
    else if (isOurs(job)) advance(job, tools);
  },
});

/** A Job may name another controller in `managedBy`, which then writes its status. */
function isOurs(job: ApiObject): boolean {
  return ["", "kubernetes.io/job-controller"].includes(textOf(objectOf(job, "spec"), "managedBy"));
}

function isFinished(job: ApiObject): boolean {
  return objectsOf(objectOf(job, "status"), "conditions").some(
    (condition) => ["Complete", "Failed"].includes(textOf(condition, "type")) && condition["status"] === "True",
  );
}

/** `ttlSecondsAfterFinished`. */
function expire(job: ApiObject, tools: Tools): void {
  const seconds = numberOf(objectOf(job, "spec"), "ttlSecondsAfterFinished");
  if (seconds === undefined) return;
  const conditions = objectsOf(objectOf(job, "status"), "conditions");
  const ended = Date.parse(textOf(conditions.at(-1), "lastTransitionTime"));
  const leftMs = ended + seconds * 1000 - tools.now().getTime();
  if (leftMs > 0) tools.again(leftMs);
  else tools.client.delete(jobs, namespaceOf(job), nameOf(job), { uid: uidOf(job), propagationPolicy: "Background" });
}

function advance(job: ApiObject, tools: Tools): void {
  const spec = objectOf(job, "spec") ?? {};
  const present = podsOf(job, tools);
  const active = present.filter((pod) => !["Succeeded", "Failed"].includes(phaseOf(pod)));
  if (spec["suspend"] === true) {
    for (const pod of active) deletePod(job, pod, tools);
  }
  const succeeded = present.filter((pod) => phaseOf(pod) === "Succeeded").length;
  const isLate = isPastDeadline(job, spec, tools);
  if (isLate) for (const pod of active) deletePod(job, pod, tools);
  const isOver = isLate || spec["suspend"] === true || present.some((pod) => phaseOf(pod) === "Failed");
  const wanted = isOver ? 0 : Math.min(numberOf(spec, "parallelism") ?? 1, completionsOf(spec) - succeeded);
  try {
    for (let count = active.length; count < wanted; count += 1) createPod(job, {}, tools);
  } finally {
    handOnFault(job, tools);
    writeStatus(job, spec, podsOf(job, tools), tools, isLate);
  }
}

/** `activeDeadlineSeconds`, counted from the start of the Job. */
function isPastDeadline(job: ApiObject, spec: JsonObject, tools: Tools): boolean {
  const seconds = numberOf(spec, "activeDeadlineSeconds");
  if (seconds === undefined || spec["suspend"] === true) return false;
  const started = textOf(objectOf(job, "status"), "startTime");
  const leftMs =
    (started === "" ? tools.now().getTime() : Date.parse(started)) + seconds * 1000 - tools.now().getTime();
  if (leftMs > 0) tools.again(leftMs);
  return leftMs <= 0;
}

/** Without a number one success is enough. */
function completionsOf(spec: JsonObject): number {
  return numberOf(spec, "completions") ?? 1;
}

function writeStatus(
  job: ApiObject,
  spec: JsonObject,
  owned: readonly ApiObject[],
  tools: Tools,
  isLate: boolean,
): void {
  const before = objectOf(job, "status") ?? {};
  const time = timestamp(tools.now());
  const isSuspended = spec["suspend"] === true;
  const succeeded = owned.filter((pod) => phaseOf(pod) === "Succeeded").length;
  const failed = owned.filter((pod) => phaseOf(pod) === "Failed").length;
  const isComplete = !isSuspended && failed === 0 && succeeded >= completionsOf(spec);
  const active = owned.length - succeeded - failed;
  const failure = isLate ? deadlineExceeded : failed > 0 ? backoffLimitExceeded : undefined;
  const conditions = withConditions(before, conditionsOf(isSuspended, isComplete, failure), time).map((condition) => ({
    ...condition,
    lastProbeTime: condition["lastTransitionTime"] ?? time,
  }));
  const status: JsonObject = {
    ...(conditions.length > 0 ? { conditions } : {}),
    ...(isSuspended ? {} : { startTime: textOf(before, "startTime") || time }),
    ...(isComplete ? { completionTime: time } : {}),
    ...(active > 0 ? { active } : {}),
    ...(succeeded > 0 ? { succeeded } : {}),
    ...(failed > 0 ? { failed } : {}),
    uncountedTerminatedPods: {},
    ready: 0,
    terminating: 0,
  };
  if (sameJson(status, before)) return;
  tools.client.update(jobs, { ...job, status }, { subresource: "status" });
  tell(job, before, conditions, tools);
}

/** The Events of a real Job controller about its conditions, each when it is new. */
function tell(job: ApiObject, before: JsonObject, conditions: readonly JsonObject[], { record }: Tools): void {
  const former = new Set(objectsOf(before, "conditions").map((condition) => textOf(condition, "type")));
  const present = new Map(conditions.map((condition) => [textOf(condition, "type"), condition]));
  const isNew = (type: string): boolean => present.has(type) && !former.has(type);
  if (isNew("Suspended")) record(job, "Normal", "Suspended", "Job suspended");
  if (former.has("Suspended") && !present.has("Suspended")) record(job, "Normal", "Resumed", "Job resumed");
  if (isNew("Complete")) record(job, "Normal", "Completed", "Job completed");
  const failed = present.get("Failed");
  if (failed !== undefined) record(job, "Warning", textOf(failed, "reason"), textOf(failed, "message"));
}

const backoffLimitExceeded = {
  reason: "BackoffLimitExceeded",
  message: "Job has reached the specified backoff limit",
};
const deadlineExceeded = {
  reason: "DeadlineExceeded",
  message: "Job was active longer than specified deadline",
};

function conditionsOf(
  isSuspended: boolean,
  isComplete: boolean,
  failure: { readonly reason: string; readonly message: string } | undefined,
): readonly JsonObject[] {
  if (isSuspended) return [{ type: "Suspended", status: "True", reason: "JobSuspended", message: "Job suspended" }];
  if (isComplete) {
    const why = { status: "True", reason: "CompletionsReached", message: "Reached expected number of succeeded pods" };
    return [
      { type: "SuccessCriteriaMet", ...why },
      { type: "Complete", ...why },
    ];
  }
  if (failure === undefined) return [];
  const why = { status: "True", ...failure };
  return [
    { type: "FailureTarget", ...why },
    { type: "Failed", ...why },
  ];
}
