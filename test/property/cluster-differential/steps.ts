import { isJsonObject, type Json, type JsonObject } from "../../../lib/core/json.ts";
import { type Random, random } from "../../unit/queue/simulator/random.ts";
import type { ApiRequest } from "./api-server.ts";
import { pick, weighted } from "./choice.ts";
import { generateValue } from "./generate-value.ts";
import { mutate } from "./mutate.ts";
import { applyBody, jsonPatchOf, mergePatchOf, strategicPatchOf } from "./patches.ts";
import type { Subject } from "./subjects.ts";

/** One request. `live` is the object in the last answer of the same server, so that each server gets its own names. */
export interface Step {
  readonly name: string;
  request(live: JsonObject | undefined): ApiRequest;
}

type Make = (chance: Random, subject: Subject, live: JsonObject | undefined) => ApiRequest;

const applyType = "application/apply-patch+yaml";
const mergeType = "application/merge-patch+json";
const tableType = "application/json;as=Table;v=v1;g=meta.k8s.io";
const partialType = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const partialListType = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

const makers: Readonly<Record<string, readonly [weight: number, make: Make]>> = {
  create: [3, (chance, subject) => ({
    method: "POST", path: `${subject.collection}${options(chance, "fieldManager=creator")}`, body: changed(chance, subject.object, subject),
  })],
  apply: [12, (chance, subject) => ({
    method: "PATCH",
    path: `${objectPath(subject)}${options(chance, `fieldManager=${pick(chance, ["alpha", "beta", "gamma"])}`, chance.chance(0.3) ? "force=true" : "")}`,
    contentType: applyType,
    body: applyBody(chance, changed(chance, subject.object, subject)),
  })],
  put: [3, (chance, subject, live) => ({
    method: "PUT", path: `${objectPath(subject)}${options(chance, "fieldManager=putter")}`,
    body: changed(chance, chance.chance(0.3) ? withVersion(subject.object, live) : (live ?? subject.object), subject),
  })],
  merge: [4, (chance, subject, live) => ({
    method: "PATCH", path: `${objectPath(subject)}${options(chance, "fieldManager=merger")}`, contentType: mergeType,
    body: mergePatchOf(chance, live ?? subject.object, subject),
  })],
  strategic: [4, (chance, subject, live) => ({
    method: "PATCH", path: `${objectPath(subject)}${options(chance, "fieldManager=strategist")}`,
    contentType: "application/strategic-merge-patch+json", body: strategicPatchOf(chance, live ?? subject.object, subject),
  })],
  json: [3, (chance, subject, live) => ({
    method: "PATCH", path: `${objectPath(subject)}${options(chance, "fieldManager=jason")}`,
    contentType: "application/json-patch+json", body: jsonPatchOf(chance, live ?? subject.object),
  })],
  status: [2, (chance, subject, live) => statusRequest(chance, subject, live)],
  scale: [2, (chance, subject) => scaleRequest(chance, subject)],
  get: [1, (chance, subject) => ({ method: "GET", path: objectPath(subject), accept: pick(chance, ["application/json", tableType, partialType]) })],
  list: [1, (chance, { collection, name }) => ({
    method: "GET",
    path: `${collection}?fieldSelector=${encodeURIComponent(pick(chance, [`metadata.name=${name}`, `metadata.name=${name},metadata.namespace!=x`, "spec.none=x", "a==b,", "metadata.name"]))}&labelSelector=${encodeURIComponent(pick(chance, ["", "", "app=web", "app in (web,w)", "!none", "app!=web", "app notin ()", "a b", "x>1", "-a=b"]))}`,
    accept: pick(chance, ["application/json", tableType, partialListType]),
  })],
  delete: [1, (chance, subject, live) => deleteRequest(chance, subject, live)],
}; // biome-ignore format: a table, a line for each part of a request

/**
 * A step made from its own seed, so that each server gets the same requests.
 *
 * @param isDry nothing is stored, so that each step is the first one
 */
export function stepOf(seed: number, subject: Subject, isFirst: boolean, isDry: boolean): Step {
  const offered = Object.entries(makers).filter(
    ([name]) =>
      (name !== "scale" || subject.hasScale) &&
      (name !== "status" || subject.hasStatus) &&
      (!(isFirst || isDry) || name === "create" || name === "apply"),
  );
  const [name, [, make]] = weighted(
    random(seed),
    offered.map((entry) => [isFirst || isDry ? 1 : entry[1][0], entry] as const),
  );
  return {
    name,
    request(live) {
      const request = make(random(seed + 1), subject, live);
      return isDry && !request.path.includes("dryRun") ? { ...request, path: `${request.path}&dryRun=All` } : request;
    },
  };
}

function objectPath({ collection, name }: Subject): string {
  return `${collection}/${encodeURIComponent(name)}`;
}

/** Query parameters that any write takes, now and then. */
function options(chance: Random, ...own: readonly string[]): string {
  const dryRun = chance.chance(0.08) ? ["dryRun=All"] : [];
  const validation = chance.chance(0.3) ? [`fieldValidation=${pick(chance, ["Ignore", "Warn", "Strict"])}`] : [];
  return `?${[...own.filter((each) => each !== ""), ...dryRun, ...validation].join("&")}`;
}

function changed(chance: Random, object: JsonObject, { schema }: Subject): JsonObject {
  const times = weighted(chance, [
    [3, 0],
    [5, 1],
    [2, 2],
  ]);
  let result = object;
  for (let time = 0; time < times; time++) result = mutate(chance, result, schema);
  return result;
}

function withVersion(object: JsonObject, live: JsonObject | undefined): JsonObject {
  const metadata = isJsonObject(object["metadata"]) ? object["metadata"] : {};
  const resourceVersion = isJsonObject(live?.["metadata"]) ? live["metadata"]["resourceVersion"] : undefined;
  return resourceVersion === undefined ? object : { ...object, metadata: { ...metadata, resourceVersion } };
}

function statusRequest(chance: Random, subject: Subject, live: JsonObject | undefined): ApiRequest {
  const path = `${objectPath(subject)}/status`;
  const type = subject.schema?.properties?.["status"];
  const status: Json =
    type === undefined
      ? {
          phase: pick(chance, ["up", "down"]),
          replicas: chance.int(0, 2),
          conditions: [{ type: pick(chance, ["A", "B"]), status: pick(chance, ["True", "maybe"]) }],
        }
      : generateValue(chance, type, 1);
  const { apiVersion = "", kind = "" } = subject.object;
  const metadata = { name: subject.name, labels: { status: "yes" } };
  return weighted<ApiRequest>(chance, [
    [2, { method: "PATCH", path: `${path}?fieldManager=watcher`, contentType: mergeType, body: { status } }],
    [
      2,
      {
        method: "PATCH",
        path: `${path}?fieldManager=alpha`,
        contentType: applyType,
        body: { apiVersion, kind, metadata, status, spec: {} },
      },
    ],
    [1, { method: "PUT", path: `${path}?fieldManager=watcher`, body: { ...(live ?? subject.object), status } }],
  ]);
}

function scaleRequest(chance: Random, subject: Subject): ApiRequest {
  const path = `${objectPath(subject)}/scale`;
  const spec = pick<Json>(chance, [{ replicas: 0 }, { replicas: 1 }, { replicas: -1 }, {}, { replicas: "x" }]);
  const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: subject.name }, spec };
  return weighted<ApiRequest>(chance, [
    [1, { method: "GET", path }],
    [2, { method: "PATCH", path: `${path}?fieldManager=scaler`, contentType: mergeType, body: { spec } }],
    [1, { method: "PUT", path: `${path}?fieldManager=scaler`, body: scale }],
    [
      1,
      {
        method: "PATCH",
        path: `${path}?fieldManager=alpha${chance.chance(0.5) ? "&force=true" : ""}`,
        contentType: applyType,
        body: scale,
      },
    ],
  ]);
}

function deleteRequest(chance: Random, subject: Subject, live: JsonObject | undefined): ApiRequest {
  const metadata = isJsonObject(live?.["metadata"]) ? live["metadata"] : {};
  const body = pick<Json>(chance, [
    {},
    { propagationPolicy: pick(chance, ["Background", "Foreground", "Orphan", "Never"]) },
    { preconditions: { uid: metadata["uid"] ?? "none" } },
    { preconditions: { resourceVersion: "1" } },
    { gracePeriodSeconds: 0 },
    { dryRun: ["All"] },
  ]);
  return { method: "DELETE", path: objectPath(subject), body };
}
