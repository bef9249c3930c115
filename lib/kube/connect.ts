import { isJsonObject, type JsonObject } from "../core/json.ts";
import { refOf } from "../core/manifest.ts";
import { formatApiVersion, type VersionedRef } from "../core/object-ref.ts";
import { ApiError, type Cluster, type Patch, type Resource } from "../core/ports/cluster.ts";
import { errorOf, isObjectMissing, jsonOf, namesAnObject, warningsOf } from "./api-answer.ts";
import { type ApiClient, type ApiDeps, type ApiRequest, apiClient } from "./api-client.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { type Discovery, discovery } from "./discovery.ts";
import { listPages } from "./list-pages.ts";
import { listItem, liveObject } from "./live-object.ts";
import { collectionPath, objectPath } from "./resource-path.ts";
import { withoutSecretValues } from "./secret-fault.ts";
import type { Answer } from "./transport.ts";
import { watchEvents } from "./watch-events.ts";

const partialList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
const patchTypes = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
} as const satisfies Record<Patch["type"], string>;

/** The {@link Cluster} port on Kubernetes' HTTP API. `close` ends the connections that are kept. */
export function connect(config: ClusterConfig, deps: ApiDeps): Cluster & { close(): void } {
  const client = apiClient(config, deps);
  const kinds = discovery(client, deps.clock);
  let knownUid: string | undefined;
  return {
    async uid(signal) {
      if (knownUid !== undefined) return knownUid;
      const request = { verb: "get", method: "GET", path: "/api/v1/namespaces/kube-system", repeatable: true } as const;
      knownUid = liveObject(jsonOf(await client.expect(request, signal))).metadata.uid;
      return knownUid;
    },
    resource: (query, signal) => kinds.find(query, signal),
    served: (signal) => kinds.all(signal),
    async get(ref, signal) {
      const resource = await resourceOf(kinds, ref, signal);
      const request = { verb: "get", method: "GET", path: objectPath(resource, ref), repeatable: true } as const;
      const answer = await client.send(request, signal);
      if (isObjectMissing(answer, ref.name, resource.plural)) return undefined;
      return liveObject(jsonOf(accepted(answer, resource, kinds)));
    },
    async list(query, signal) {
      const resource = await resourceOf(kinds, query, signal);
      const { items } = await listed(listPages(client, resource, query, "application/json", signal), resource, kinds);
      return items.map((item) => listItem(item, query));
    },
    async listMetadata(query, signal) {
      const resource = await resourceOf(kinds, query, signal);
      const { items } = await listed(listPages(client, resource, query, partialList, signal), resource, kinds);
      return items.map((item) => {
        const { apiVersion, kind, metadata } = listItem(item, query);
        return { apiVersion, kind, metadata };
      });
    },
    async apply(manifest, { manager, force, dryRun, fieldValidation, subresource, beforeSend }, signal) {
      const ref = refOf(manifest);
      const resource = await resourceOf(kinds, ref, signal);
      const answer = await write(client, kinds, resource, signal, {
        verb: "apply",
        method: "PATCH",
        path: objectPath(resource, ref, subresource),
        query: { fieldManager: manager, force: String(force), dryRun: dryRunOf(dryRun), fieldValidation },
        body: { type: "application/apply-patch+yaml", json: manifest },
        repeatable: true,
        beforeSend,
      });
      return { object: liveObject(jsonOf(answer)), created: answer.status === 201, warnings: warningsOf(answer) };
    },
    async create(manifest, { manager, dryRun, subresource, beforeSend }, signal) {
      const ref = refOf(manifest);
      const resource = await resourceOf(kinds, ref, signal);
      const path =
        subresource === undefined ? collectionPath(resource, ref.namespace) : objectPath(resource, ref, subresource);
      const answer = await write(client, kinds, resource, signal, {
        verb: "create",
        method: "POST",
        path,
        query: { fieldManager: manager, dryRun: dryRunOf(dryRun) },
        body: { type: "application/json", json: manifest },
        // Sent twice, the second would find the object of the first and fail.
        repeatable: false,
        beforeSend,
      });
      return liveObject(jsonOf(answer));
    },
    async patch(ref, patch, { manager, dryRun, subresource, beforeSend }, signal) {
      const resource = await resourceOf(kinds, ref, signal);
      const answer = await write(client, kinds, resource, signal, {
        verb: "patch",
        method: "PATCH",
        path: objectPath(resource, ref, subresource),
        query: { fieldManager: manager, dryRun: dryRunOf(dryRun) },
        body: { type: patchTypes[patch.type], json: patch.body },
        repeatable: patch.type === "merge",
        beforeSend,
      });
      return liveObject(jsonOf(answer));
    },
    async delete(ref, { uid, resourceVersion, propagation, beforeSend }, signal) {
      const resource = await resourceOf(kinds, ref, signal);
      const preconditions = {
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      };
      const options = { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: propagation, preconditions };
      const path = objectPath(resource, ref);
      const body = { type: "application/json", json: options };
      const request = { verb: "delete", method: "DELETE", path, body, repeatable: true, beforeSend } as const;
      const answer = await client.send(request, signal);
      if (isObjectMissing(answer, ref.name, resource.plural)) return "gone";
      return isHeld(jsonOf(accepted(answer, resource, kinds))) ? "deleting" : "deleted";
    },
    async *watch(query, signal) {
      const resource = await resourceOf(kinds, query, signal);
      try {
        yield* watchEvents({ client, clock: deps.clock }, resource, query, signal);
      } catch (error) {
        throw ofCollection(error, resource, kinds);
      }
    },
    close() {
      client.close();
    },
  };
}

async function resourceOf(
  kinds: Discovery,
  { group, version, kind }: Pick<VersionedRef, "group" | "version" | "kind">,
  signal: AbortSignal,
): Promise<Resource> {
  const resource = await kinds.find({ group, version, kind }, signal);
  if (resource !== undefined) return resource;
  const message = `no matches for kind "${kind}" in version "${formatApiVersion({ group, version })}"`;
  throw new ApiError({ code: 404, reason: "NoMatch", message });
}

async function write(
  client: ApiClient,
  kinds: Discovery,
  resource: Resource,
  signal: AbortSignal,
  request: ApiRequest,
): Promise<Answer> {
  return accepted(await client.send(request, signal), resource, kinds);
}

/** The answer, if it says success. A path that is not there means that what we know of its kind is old. */
function accepted(answer: Answer, resource: Resource, kinds: Discovery): Answer {
  if (answer.status >= 200 && answer.status <= 299) return answer;
  const error =
    resource.group === "" && resource.kind === "Secret" ? withoutSecretValues(errorOf(answer)) : errorOf(answer);
  if (answer.status !== 404 || namesAnObject(answer)) throw error;
  throw noMatch(error, resource, kinds);
}

async function listed<T>(pages: Promise<T>, resource: Resource, kinds: Discovery): Promise<T> {
  try {
    return await pages;
  } catch (error) {
    throw ofCollection(error, resource, kinds);
  }
}

/** The error of a list or watch. A collection that is not there has no kind any more: with objects or without, it would be there. */
function ofCollection(error: unknown, resource: Resource, kinds: Discovery): unknown {
  return error instanceof ApiError && error.code === 404 ? noMatch(error, resource, kinds) : error;
}

/** Also forgets what is known of this kind, so that the next question for it looks again. */
function noMatch(error: ApiError, resource: Resource, kinds: Discovery): ApiError {
  kinds.forget(resource);
  const message = `no matches for kind "${resource.kind}" in version "${formatApiVersion(resource)}": ${error.message}`;
  return new ApiError({ code: 404, reason: "NoMatch", message }, { cause: error });
}

function dryRunOf(dryRun: boolean | undefined): "All" | undefined {
  return dryRun === true ? "All" : undefined;
}

/** A delete answers a Status or the object. An object that something still holds has its deletion time and who holds it. */
function isHeld(answer: JsonObject): boolean {
  const { kind, metadata, spec } = answer;
  if (kind === "Status" || !isJsonObject(metadata)) return false;
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadata;
  if (deletionTimestamp === undefined) return false;
  const graceful = typeof deletionGracePeriodSeconds === "number" && deletionGracePeriodSeconds > 0;
  return graceful || isFilled(finalizers) || (isJsonObject(spec) && isFilled(spec["finalizers"]));
}

function isFilled(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0;
}
