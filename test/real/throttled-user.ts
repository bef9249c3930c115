import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { request as tlsRequest } from "node:https";
import { vi } from "vitest";
import { type Manifest, refOf } from "../../lib/core/manifest.ts";
import { apiClient } from "../../lib/kube/api-client.ts";
import type { ClusterConfig } from "../../lib/kube/cluster-config.ts";
import { connect } from "../../lib/kube/connect.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { deadlineMs, untilDeadline } from "../deadline.ts";

/** A user of a real API server who may do everything. A test can make the server answer 429 to all requests of this user. */
export interface ThrottledUser extends AsyncDisposable {
  /** The kubeconfig of that user. */
  readonly config: ClusterConfig;
  /** From here on each of its requests is answered 429, for the minute that the server gives a request at most. */
  throttle(): Promise<void>;
  /** Returns once the server answers all of them again. */
  release(): Promise<void>;
}

const manager = "throttled-user";
const patience = { timeout: deadlineMs, interval: 20 };
const deps = { clock: systemClock, env: {} };

/**
 * Gives the user a priority level of its own that rejects what is over its limit. The server lets a lone request pass whatever the
 * limit, so one whose body is still to come takes the place while the limit is none.
 */
export async function throttledUser(config: ClusterConfig): Promise<ThrottledUser> {
  const name = `throttled-${randomUUID().slice(0, 8)}`;
  const admin = connect(config, deps);
  const own = { ...config, user: { ...config.user, impersonate: { user: name, groups: ["system:authenticated"] } } };
  // Too little time to retry what is answered 429.
  const impatient = apiClient(own, { ...deps, limitMs: 900 });
  const version = () =>
    impatient.send({ verb: "get", method: "GET", path: "/version", repeatable: false }, untilDeadline());
  const apply = (manifest: Manifest) => admin.apply(manifest, { manager, force: true }, untilDeadline());
  const objects = [clusterRoleBinding(name), priorityLevel(name, plenty)];
  for (const object of objects) await apply(object);
  const schema = flowSchema(name);
  const { uid } = (await apply(schema)).object.metadata;
  const isCounted = async () => {
    const { headers } = await version();
    if (headers["x-kubernetes-pf-flowschema-uid"] !== uid) throw new Error("the requests are counted as others'");
  };
  await vi.waitFor(isCounted, patience);

  let place: HeldPlace | undefined;
  return {
    config: own,
    async throttle() {
      place = await takePlace(own, name);
      await apply(priorityLevel(name, 0));
      const isThrottled = async () => {
        const { status } = await version();
        if (status !== 429) throw new Error(`a request is answered ${status}, not 429`);
      };
      await vi.waitFor(isThrottled, patience);
    },
    async release() {
      await apply(priorityLevel(name, plenty));
      await place?.letGo();
      place = undefined;
      // Several at once, since a lone one is answered before the server goes by the new limit.
      const isReleased = async () => {
        const answers = await Promise.all(Array.from({ length: 5 }, version));
        if (answers.some(({ status }) => status !== 200)) throw new Error("a request is still answered 429");
      };
      await vi.waitFor(isReleased, patience);
    },
    async [Symbol.asyncDispose]() {
      await place?.letGo();
      for (const object of [schema, ...objects]) {
        await admin.delete({ ...refOf(object), namespace: "" }, { propagation: "Background" }, untilDeadline());
      }
      for (const client of [admin, impatient]) client.close();
    },
  };
}

interface HeldPlace {
  letGo(): Promise<void>;
}

/** Begins a request that changes nothing, and returns once the server waits for its body. */
async function takePlace({ server, tls, user }: ClusterConfig, name: string): Promise<HeldPlace> {
  if (user.token?.kind !== "token") throw new Error("the kubeconfig of a real control plane has a token");
  const body = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" } });
  const headers = {
    authorization: `Bearer ${user.token.token.reveal()}`,
    "impersonate-user": name,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    // The server asks for the body when it begins to read it, which is after it has given the request its place.
    expect: "100-continue",
  };
  const url = new URL("/api/v1/namespaces/default/configmaps?dryRun=All", server);
  const held = tlsRequest(url, { method: "POST", headers, ca: tls.ca, agent: false });
  const answered = new Promise<string>((resolve) => {
    held.on("response", (answer) => {
      answer.resume();
      resolve(`answered ${answer.statusCode}`);
    });
    held.on("error", (error) => resolve(error.message));
  });
  const asked = once(held, "continue", { signal: untilDeadline() });
  const outcome = await Promise.race([asked.then(() => undefined), answered]);
  if (outcome !== undefined) throw new Error(`no place was taken: ${outcome}`);
  return {
    async letGo() {
      held.end(body);
      await answered;
    },
  };
}

const plenty = 50;

function clusterRoleBinding(name: string): Manifest {
  const apiGroup = "rbac.authorization.k8s.io";
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup, kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ apiGroup, kind: "User", name }],
  };
}

function priorityLevel(name: string, nominalConcurrencyShares: number): Manifest {
  const limitResponse = { type: "Reject" };
  return {
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    kind: "PriorityLevelConfiguration",
    metadata: { name },
    spec: {
      type: "Limited",
      limited: { nominalConcurrencyShares, lendablePercent: 0, borrowingLimitPercent: 0, limitResponse },
    },
  };
}

function flowSchema(name: string): Manifest {
  return {
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    kind: "FlowSchema",
    metadata: { name },
    spec: {
      priorityLevelConfiguration: { name },
      matchingPrecedence: 50,
      rules: [
        {
          subjects: [{ kind: "User", user: { name } }],
          resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] }],
          nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
        },
      ],
    },
  };
}
