import type { JsonObject } from "../../../lib/core/json.ts";
import { type LiveObject, refOf } from "../../../lib/core/manifest.ts";
import { ApiError, type ListQuery, type PartialObject } from "../../../lib/core/ports/cluster.ts";
import type { ObservedHealth } from "../../../lib/health/check-health.ts";
import { noTarget } from "../../doubles/no-cluster.ts";

export const image = "registry.example.com/web";
export const badDigest = `sha256:${"b".repeat(64)}`;
const namespace = "apps";

/** What of a rollout a test changes. The former template has image 1.3.0 and one Ready Pod, the present one 1.4.0 and a Pod that fails. */
export interface Rollout {
  readonly name?: string;
  /** Of the present template and of its Deployment; beside the image, it is also that of the former one. */
  readonly podSpec?: JsonObject;
  readonly presentImage?: string;
  readonly formerImage?: string;
  /** Fields of the present Pod template alone. */
  readonly presentTemplate?: JsonObject;
  readonly presentPods?: readonly JsonObject[];
  readonly formerPods?: readonly JsonObject[];
}

/** The status of a container that ends with an error again and again. */
export const failing = {
  name: "app",
  restartCount: 2,
  state: { waiting: { reason: "CrashLoopBackOff" } },
  lastState: { terminated: { exitCode: 1, reason: "Error" } },
} as const satisfies JsonObject;

/** When the Ready Pod of the former template started. */
export const startedAt = "2026-11-30T08:00:10Z";
export const readyPod = {
  startTime: startedAt,
  conditions: [{ type: "Ready", status: "True" }],
  containerStatuses: [{ name: "app", ready: true, restartCount: 0, state: { running: {} } }],
} as const satisfies JsonObject;

export function failingPod(...containerStatuses: readonly JsonObject[]): JsonObject {
  return {
    startTime: "2026-11-30T09:00:00Z",
    conditions: [{ type: "Ready", status: "False" }],
    containerStatuses: containerStatuses.length === 0 ? [failing] : [...containerStatuses],
  };
}

/** The Deployment as the health check has found it, and what the cluster has beside it. */
export function rollout({
  name = "web",
  podSpec = {},
  presentImage = `${image}:1.4.0@${badDigest}`,
  formerImage = `${image}:1.3.0`,
  presentTemplate = {},
  presentPods = [failingPod()],
  formerPods = [readyPod],
}: Rollout = {}): { readonly observed: ObservedHealth; readonly objects: readonly LiveObject[] } {
  const labels = { app: name };
  const templateWith = (one: string, hash: JsonObject, more: JsonObject = {}): JsonObject => ({
    metadata: { labels: { ...labels, ...hash } },
    spec: { containers: [{ name: "app", image: one }], ...podSpec },
    ...more,
  });
  const object = (kind: string, called: string, of: string | undefined, more: JsonObject): LiveObject => {
    const owner =
      of === undefined ? {} : { ownerReferences: [{ apiVersion: "apps/v1", kind: "x", name: of, uid: of }] };
    const metadata = { name: called, namespace, uid: called, labels, ...owner };
    return { apiVersion: kind === "Pod" ? "v1" : "apps/v1", kind, metadata, ...more };
  };
  const revision = (one: LiveObject, at: string): LiveObject => ({
    ...one,
    metadata: { ...one.metadata, annotations: { "deployment.kubernetes.io/revision": at } },
  });
  const setOf = (at: string, one: string, more?: JsonObject): LiveObject => {
    const spec = { selector: { matchLabels: labels }, template: templateWith(one, { "pod-template-hash": at }, more) };
    return revision(object("ReplicaSet", `${name}-${at}`, name, { spec }), at);
  };
  const podsOf = (at: string, statuses: readonly JsonObject[]) =>
    statuses.map((status, index) => object("Pod", `${name}-${at}-${index}`, `${name}-${at}`, { status }));
  const spec = { selector: { matchLabels: labels }, template: templateWith(presentImage, {}, presentTemplate) };
  const deployment = revision(object("Deployment", name, undefined, { spec }), "2");
  return {
    observed: { ref: refOf(deployment), status: "Failed", object: deployment },
    objects: [
      setOf("1", formerImage),
      setOf("2", presentImage, presentTemplate),
      ...podsOf("1", formerPods),
      ...podsOf("2", presentPods),
    ],
  };
}

/** A ConfigMap or Secret of the rollout's namespace, of which the cluster tells when it was last written. */
export function written(kind: "ConfigMap" | "Secret", name: string, time: string): PartialObject {
  const writes = [{ manager: "kubectl", operation: "Update" as const, apiVersion: "v1", time }];
  const metadata = { name, namespace, uid: name, creationTimestamp: "2026-11-01T00:00:00Z", managedFields: writes };
  return { apiVersion: "v1", kind, metadata };
}

/** A cluster with these objects; `asked` has the kinds that it was asked for. */
export function targetWith(
  objects: readonly LiveObject[],
  { configs = [], forbidden }: { readonly configs?: readonly PartialObject[]; readonly forbidden?: string } = {},
) {
  const asked: string[] = [];
  const ask = (kind: string): void => {
    asked.push(kind);
    if (kind === forbidden) throw new ApiError({ code: 403, reason: "Forbidden", message: "no" });
  };
  const list = async ({ kind, labelSelector }: ListQuery) => {
    ask(kind);
    return objects.filter((one) => one.kind === kind && `app=${one.metadata.labels?.["app"]}` === labelSelector);
  };
  const listMetadata = async ({ kind, fieldSelector }: ListQuery) => {
    ask(kind);
    return configs.filter((one) => one.kind === kind && `metadata.name=${one.metadata.name}` === fieldSelector);
  };
  return { target: { ...noTarget, list, listMetadata }, asked };
}
