import { isJsonObject, type JsonObject } from "../core/json.ts";
import { refOf } from "../core/manifest.ts";
import { formatApiVersion, type VersionedRef } from "../core/object-ref.ts";
import type { AccountTokens } from "../core/ports/account-tokens.ts";
import { ApiError, type Cluster, type ImpersonatingCluster, type Patch, type Resource } from "../core/ports/cluster.ts";
import type { ExternalMetrics } from "../core/ports/external-metrics.ts";
import type { OwnUser } from "../core/ports/remote-clusters.ts";
import type { ServiceProxy } from "../core/ports/service-proxy.ts";
import { Secret } from "../core/secret.ts";
import { errorOf, isObjectMissing, jsonOf, listItem, liveObject, namesAnObject, warningsOf } from "./api-answer.ts";
import { type ApiClient, type ApiDeps, type ApiRequest, apiClient } from "./api-client.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { collectionPath, type Discovery, discovery, objectPath } from "./discovery.ts";
import { endpointOf } from "./endpoint.ts";
import { externalMetrics } from "./external-metrics.ts";
import { listPages } from "./list-pages.ts";
import { serviceProxy } from "./service-proxy.ts";
import type { Answer } from "./transport.ts";

const patchTypes = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
} as const satisfies Record<Patch["type"], string>;

/** The port, and more for commands that show a cluster. */
export interface ConnectedCluster extends ImpersonatingCluster {
  /** The server's version as it names it: `v1.35.4`, `v1.33.1-eks-1234567`. */
  readonly serverVersion: (signal: AbortSignal) => Promise<string>;
  /** Whether the server lets this identity do so. Most identities may ask about themselves. */
  readonly isAllowed: (right: AccessRight, signal: AbortSignal) => Promise<boolean>;
  /** Who the server takes this identity for; undefined if it knows no such question (it is older than Kubernetes 1.28). */
  readonly whoAmI: (signal: AbortSignal) => Promise<OwnUser | undefined>;
  readonly services: ServiceProxy;
  readonly externalMetrics: ExternalMetrics;
  /** Ends the kept connections. */
  close(): void;
  /** Ends them once they are idle. Work that has begun may go on. */
  retire(): void;
}

/** For how many users discovery is cached. */
const maxUsers = 100;

/** The attributes of a request as `SelfSubjectAccessReview` has them; without a namespace: in all of them. */
export interface AccessRight {
  readonly verb: string;
  readonly group: string;
  /** Plural. */
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  /** The only object; without it: all. */
  readonly name?: string;
}

/** The {@link Cluster} port on Kubernetes' HTTP API. */
export function connect(config: ClusterConfig, deps: ApiDeps): ConnectedCluster {
  const client = apiClient(config, deps);
  let knownUid: string | undefined;
  // With our own rights for every user: a service account may hardly read the namespace.
  const uid = async (signal: AbortSignal): Promise<string> => {
    if (knownUid !== undefined) return knownUid;
    const request = { verb: "get", method: "GET", path: "/api/v1/namespaces/kube-system", repeatable: true } as const;
    knownUid = liveObject(jsonOf(await client.expect(request, signal))).metadata.uid;
    return knownUid;
  };
  const users = new Map<string, Cluster>();
  return {
    ...clusterOver(client, uid, deps),
    endpoint: async () => endpointOf(config),
    as(user) {
      const known = users.get(user) ?? clusterOver(client.as(user), uid, deps);
      users.delete(user);
      users.set(user, known);
      const [oldest] = users.keys();
      if (users.size > maxUsers && oldest !== undefined) users.delete(oldest);
      return known;
    },
    accountTokens: accountTokens(client),
    services: serviceProxy(client, config.server),
    externalMetrics: externalMetrics(client),
    async serverVersion(signal) {
      const request = { verb: "get", method: "GET", path: "/version", repeatable: true } as const;
      const { gitVersion } = jsonOf(await client.expect(request, signal));
      return typeof gitVersion === "string" ? gitVersion : "";
    },
    async isAllowed(right, signal) {
      const [apiVersion, kind] = ["authorization.k8s.io/v1", "SelfSubjectAccessReview"];
      const json = { apiVersion, kind, spec: { resourceAttributes: { ...right } } };
      const path = `/apis/${apiVersion}/selfsubjectaccessreviews`;
      const body = { type: "application/json", json } as const;
      const request = { verb: "create", method: "POST", path, body, repeatable: true } as const;
      const { status } = jsonOf(await client.expect(request, signal));
      return isJsonObject(status) && status["allowed"] === true;
    },
    async whoAmI(signal) {
      const [apiVersion, kind] = ["authentication.k8s.io/v1", "SelfSubjectReview"];
      const path = `/apis/${apiVersion}/selfsubjectreviews`;
      const body = { type: "application/json", json: { apiVersion, kind } } as const;
      const answer = await client.send({ verb: "create", method: "POST", path, body, repeatable: true }, signal);
      if (answer.status < 200 || answer.status > 299) return undefined;
      const { status } = jsonOf(answer);
      const info = isJsonObject(status) ? status["userInfo"] : undefined;
      if (!isJsonObject(info) || typeof info["username"] !== "string") return undefined;
      const { username: name, uid: userUid } = info;
      return { name, uid: typeof userUid === "string" ? userUid : undefined };
    },
    close() {
      client.close();
    },
    retire() {
      client.retire();
    },
  };
}

function accountTokens(client: ApiClient): AccountTokens {
  return {
    async issue({ namespace, name }, audiences, signal) {
      const [account, within] = [name, namespace].map(encodeURIComponent);
      const path = `/api/v1/namespaces/${within}/serviceaccounts/${account}/token`;
      const json = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { audiences } };
      const body = { type: "application/json", json } as const;
      const request = { verb: "create", method: "POST", path, body, repeatable: true } as const;
      const { status } = jsonOf(await client.expect(request, signal));
      const token = isJsonObject(status) ? status["token"] : undefined;
      if (typeof token === "string" && token !== "") return new Secret(token);
      throw new ApiError({ code: 200, reason: "", message: "the answer to a TokenRequest holds no token" });
    },
  };
}

/** The port for one identity, with its own discovery. */
function clusterOver(client: ApiClient, uid: Cluster["uid"], deps: Pick<ApiDeps, "clock">): Cluster {
  const kinds = discovery(client, deps.clock);
  return {
    uid,
    resource: (query, signal) => kinds.find(query, signal),
    served: (signal) => kinds.all(signal),
    async version(signal) {
      const request = { verb: "get", method: "GET", path: "/version", repeatable: true } as const;
      const { gitVersion } = jsonOf(await client.expect(request, signal));
      return typeof gitVersion === "string" ? gitVersion : "";
    },
    async get(ref, signal) {
      const resource = await resourceOf(kinds, ref, signal);
      const request = { verb: "get", method: "GET", path: objectPath(resource, ref), repeatable: true } as const;
      const answer = await client.send(request, signal);
      if (isObjectMissing(answer, ref.name, resource.plural)) return undefined;
      return liveObject(jsonOf(await accepted(answer, resource, kinds)));
    },
    async list(query, signal) {
      const resource = await resourceOf(kinds, query, signal);
      const { items } = await listed(listPages(client, resource, query, "whole", signal), resource, kinds);
      return items.map((item) => listItem(item, query));
    },
    async listMetadata(query, signal) {
      const resource = await resourceOf(kinds, query, signal);
      const { items } = await listed(listPages(client, resource, query, "metadata", signal), resource, kinds);
      return items.map((item) => listItem(item, query));
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
        // A second request would fail because the first one has created the object.
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
      return isHeld(jsonOf(await accepted(answer, resource, kinds))) ? "deleting" : "deleted";
    },
    async *watch(query, signal) {
      const resource = await resourceOf(kinds, query, signal);
      try {
        // A function watches nothing.
        const { watchEvents } = await import("./watch-events.ts");
        yield* watchEvents({ client, clock: deps.clock }, resource, query, signal);
      } catch (error) {
        throw ofCollection(error, resource, kinds);
      }
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

/** The answer, if it is a success. A missing path means that our knowledge of the kind is outdated. */
async function accepted(answer: Answer, resource: Resource, kinds: Discovery): Promise<Answer> {
  if (answer.status >= 200 && answer.status <= 299) return answer;
  const error = await shownError(answer, resource);
  if (answer.status !== 404 || namesAnObject(answer)) throw error;
  throw noMatch(error, resource, kinds);
}

/** The part of an API server's error that may be shown. */
async function shownError(answer: Answer, { group, kind }: Resource): Promise<ApiError> {
  const error = errorOf(answer);
  if (group !== "" || kind !== "Secret") return error;
  // Not at the start of a function: an API server has many texts about Secrets.
  const { withoutSecretValues } = await import("./secret-fault.ts");
  return withoutSecretValues(error);
}

async function listed<T>(pages: Promise<T>, resource: Resource, kinds: Discovery): Promise<T> {
  try {
    return await pages;
  } catch (error) {
    throw ofCollection(error, resource, kinds);
  }
}

/** The error of a list or watch. A missing collection means that the kind is no longer served, since an empty one still exists. */
function ofCollection(error: unknown, resource: Resource, kinds: Discovery): unknown {
  return error instanceof ApiError && error.code === 404 ? noMatch(error, resource, kinds) : error;
}

/** Also forgets the kind, so that the next lookup asks the server again. */
function noMatch(error: ApiError, resource: Resource, kinds: Discovery): ApiError {
  kinds.forget(resource);
  const message = `no matches for kind "${resource.kind}" in version "${formatApiVersion(resource)}": ${error.message}`;
  return new ApiError({ code: 404, reason: "NoMatch", message }, { cause: error });
}

function dryRunOf(dryRun: boolean | undefined): "All" | undefined {
  return dryRun === true ? "All" : undefined;
}

/** Whether a deleted object still exists. A delete answers a Status or the object; a blocked one has a deletion time and finalizers. */
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
