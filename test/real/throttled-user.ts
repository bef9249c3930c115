import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:https";
import { text } from "node:stream/consumers";
import { vi } from "vitest";
import { z } from "zod";
import { type Manifest, refOf } from "../../lib/core/manifest.ts";
import { systemClock } from "../../lib/core/system-clock.ts";
import { type ApiRequest, apiClient } from "../../lib/kube/api-client.ts";
import type { ClusterConfig } from "../../lib/kube/cluster-config.ts";
import { connect } from "../../lib/kube/connect.ts";
import { closeServer } from "../doubles/close-server.ts";
import { pem } from "../doubles/pem.ts";
import { portOnLoopback } from "../doubles/port-on-loopback.ts";

/** A user of a real API server who may do everything. A test can make the server answer 429 to all requests of this user. */
export interface ThrottledUser extends AsyncDisposable {
  /** The kubeconfig of that user. */
  readonly config: ClusterConfig;
  /** From here on each of its requests is answered 429. */
  throttle(): Promise<void>;
  release(): Promise<void>;
}

const manager = "throttled-user";
const patienceMs = 30_000;
const patience = { timeout: patienceMs, interval: 20 };
const deps = { clock: systemClock, env: {} };
const Review = z.object({ request: z.object({ uid: z.string() }) });

/**
 * Gives the user a priority level of its own that rejects what is over its limit. The server lets a lone request pass whatever the
 * limit, so one that waits for a webhook of ours takes the place while the limit is none.
 */
export async function throttledUser(config: ClusterConfig): Promise<ThrottledUser> {
  const name = `throttled-${randomUUID().slice(0, 8)}`;
  const soon = () => AbortSignal.timeout(patienceMs);
  const webhook = await slowWebhook();
  const admin = connect(config, deps);
  const own = { ...config, user: { ...config.user, impersonate: { user: name, groups: ["system:authenticated"] } } };
  // Too little time to retry.
  const impatient = apiClient(own, { ...deps, limitMs: 500 });
  const waiting = apiClient(own, { ...deps, limitMs: 15_000 });
  const version = (signal: AbortSignal) =>
    impatient.send({ verb: "get", method: "GET", path: "/version", repeatable: false }, signal);
  const apply = (manifest: Manifest) => admin.apply(manifest, { manager, force: true }, soon());
  const objects = [clusterRoleBinding(name), webhookConfiguration(name, webhook), priorityLevel(name, plenty)];
  for (const object of objects) await apply(object);
  const schema = flowSchema(name);
  const { uid } = (await apply(schema)).object.metadata;
  const isCounted = async () => {
    const { headers } = await version(soon());
    if (headers["x-kubernetes-pf-flowschema-uid"] !== uid) throw new Error("the requests are counted as others'");
  };
  await vi.waitFor(isCounted, patience);

  let taken: Promise<unknown> | undefined;
  /** The server may not know the webhook yet: then it answers at once. */
  const take = async (): Promise<void> => {
    const signal = soon();
    for (let isTaken = false; !isTaken; ) {
      signal.throwIfAborted();
      const asked = webhook.asked().then(() => true);
      taken = waiting.send(heldRequest(name), signal).catch(() => undefined);
      isTaken = await Promise.race([asked, taken.then(() => false)]);
    }
  };
  const release = async (): Promise<void> => {
    await apply(priorityLevel(name, plenty));
    webhook.letGo();
    await taken;
    taken = undefined;
  };
  return {
    config: own,
    async throttle() {
      await take();
      await apply(priorityLevel(name, 0));
      const isThrottled = async () => {
        const { status } = await version(soon());
        if (status !== 429) throw new Error(`a request is answered ${status}, not 429`);
      };
      await vi.waitFor(isThrottled, patience);
    },
    release,
    async [Symbol.asyncDispose]() {
      await release();
      for (const object of [schema, ...objects]) {
        await admin.delete({ ...refOf(object), namespace: "" }, { propagation: "Background" }, soon());
      }
      await webhook.close();
      for (const client of [admin, impatient, waiting]) client.close();
    },
  };
}

/** An admission webhook that allows everything once it is released. */
async function slowWebhook() {
  const [cert, key] = await Promise.all([pem("server.crt"), pem("server.key")]);
  let gate = Promise.withResolvers<void>();
  const server = createServer({ cert, key }, (request, response) => {
    server.emit("asked");
    void Promise.all([text(request), gate.promise]).then(([body]) => {
      const { uid } = Review.parse(JSON.parse(body)).request;
      response.writeHead(200, { "content-type": "application/json" });
      const answer = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid, allowed: true } };
      response.end(JSON.stringify(answer));
    });
  });
  const port = await portOnLoopback(server);
  return {
    url: `https://127.0.0.1:${port}/`,
    ca: cert,
    asked: () => once(server, "asked"),
    letGo() {
      gate.resolve();
      gate = Promise.withResolvers();
    },
    async close() {
      await closeServer(server);
    },
  };
}

const heldLabel = "test.sluice.dev/held";
const plenty = 50;

/** A request that changes nothing and goes through the webhook. */
function heldRequest(name: string): ApiRequest {
  const metadata = { name, namespace: "default", labels: { [heldLabel]: name } };
  const json = { apiVersion: "v1", kind: "ConfigMap", metadata };
  const path = "/api/v1/namespaces/default/configmaps";
  const body = { type: "application/json", json };
  return { verb: "create", method: "POST", path, query: { dryRun: "All" }, body, repeatable: false };
}

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

function webhookConfiguration(name: string, { url, ca }: { readonly url: string; readonly ca: string }): Manifest {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name },
    webhooks: [
      {
        name: `${name}.sluice.test`,
        clientConfig: { url, caBundle: Buffer.from(ca).toString("base64") },
        rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
        objectSelector: { matchLabels: { [heldLabel]: name } },
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        timeoutSeconds: 30,
        failurePolicy: "Ignore",
      },
    ],
  };
}
