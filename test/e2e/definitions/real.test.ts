import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { definitionsHandler } from "../../../functions/definitions.ts";
import { servedKind } from "../../../lib/api/kinds/declaration.ts";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { defaultGates } from "../../../lib/core/feature-gates.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { Clock } from "../../../lib/core/ports/clock.ts";
import { ApiError, type Cluster } from "../../../lib/core/ports/cluster.ts";
import { asHome } from "../../../lib/core/ports/home-and-target.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { clusterRights, type Holder, rightsManifests } from "../../../lib/definitions/cluster-rights.ts";
import type { Right } from "../../../lib/definitions/right.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { deliverNotifications } from "../../../lib/notify/deliver.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { configKinds } from "../../../lib/queue/observed-kinds.ts";
import { readSecretValues } from "../../../lib/receiver/secret-values.ts";
import { type ClusterUnderTest } from "../../contract/cluster/cluster-under-test.ts";
import { connectUnderTest } from "../../contract/cluster/connect-under-test.ts";
import { deadlineMs } from "../../deadline.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { mayHaveOwnControlPlane, type OwnControlPlane, ownControlPlane } from "../../real/own-control-plane.ts";
import { inGateOrDeep } from "../../size.ts";
import { notificationEventOf } from "../../unit/notify/notification-event-of.ts";
import { untilAllowed } from "../flow/known-rights.ts";
import { configMap } from "../flow/sample-manifests.ts";
import { world } from "../flow/world.ts";
import { configurationStories } from "./configuration-stories.ts";
import { clear, definitionsStories } from "./stories.ts";

const { signal } = new AbortController();
const id = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
const installation = "123456789012/eu-west-1/sluice";
const AccessReview = z.object({ status: z.object({ allowed: z.boolean() }) });
const slowMs = 900_000;

describe.skipIf(!mayHaveOwnControlPlane())("with SLUICE_REAL_KUBECONFIG", () => {
  let plane: OwnControlPlane;
  let admin: ClusterUnderTest;
  beforeAll(async () => {
    plane = await ownControlPlane();
    admin = await connectUnderTest(plane.adminKubeconfig);
  });
  afterAll(async () => {
    await admin.close();
    await plane[Symbol.asyncDispose]();
  });

  definitionsStories("a real control plane", () => admin.cluster, inGateOrDeep("some", "all"));

  describe("the rights", () => {
    beforeAll(() => clear(admin.cluster));
    /** Waits until the API server goes by a new role and its binding, which it does a moment later. */
    const untilHas = async (who: object, { group, resource: whole, names, namespace, verbs }: Right) => {
      const [resource, subresource] = whole.split("/");
      const asked = { group, resource, subresource, namespace, name: names?.[0], verb: verbs[0]?.verb };
      const resourceAttributes = JSON.parse(JSON.stringify(asked));
      const spec = { user: "jane", ...who, resourceAttributes };
      const json = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec };
      const body = { type: "application/json", json } as const;
      const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
      const isAllowed = async () => {
        const { text } = await admin.api.expect(
          { verb: "create", method: "POST", path, body, repeatable: true },
          signal,
        );
        if (!AccessReview.parse(JSON.parse(text)).status.allowed) throw new Error(`still without ${whole}`);
      };
      await vi.waitFor(isAllowed, { timeout: deadlineMs, interval: 20 });
    };
    /** Gives a new group these rights, and answers a client that is in that group and in no other. */
    const memberWith = async (group: string, holder: Holder, rights: readonly Right[]) => {
      const held = rights.filter(({ verbs }) => verbs.length > 0);
      for (const manifest of rightsManifests(holder, held)) {
        const options = { manager: "test", force: true };
        await admin.cluster.apply(renamed(manifest, group), options, signal);
      }
      const member = admin.connectAs(`user-of-${group}`, [group]);
      // Of those of the cluster and of those in a namespace one stands for all, since they are one role and one binding.
      for (const namespace of new Set(held.map((right) => right.namespace))) {
        const [one] = held.filter((right) => right.namespace === namespace);
        if (one !== undefined) await untilHas({ groups: [group] }, one);
      }
      return member;
    };
    const handle = (cluster: Cluster, type: "Create" | "Delete") => {
      const description = { server: new URL(address), ca: "", version: "1.35", hasAccessEntries: true, isPublic: true };
      const open = async () => ({ description, cluster, [Symbol.asyncDispose]: async () => undefined });
      const admission = { url: "https://127.0.0.1", secret: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:x" };
      const properties = { cluster: id, installation, version: "0.1.0", onDelete: "removeDefinitions", admission };
      const request = { type, resource: "stack/Prod", physicalId: id, properties, oldProperties: {} };
      return definitionsHandler({ clock: impatientClock(), log: silentLog, open, readStored })(request, signal);
    };
    /** What the handler does from the first request to the last. */
    const wholeLife = async (cluster: Cluster) => {
      await handle(cluster, "Create");
      const data = { installation, version: "0.1.0", since: "now", cluster: await admin.cluster.uid(signal) };
      const metadata = { name: "sluice-owner", namespace: "kube-system" };
      const owner = { apiVersion: "v1", kind: "ConfigMap", metadata, data };
      await admin.cluster.apply(owner, { manager: "test", force: true }, signal);
      await handle(cluster, "Delete");
    };

    test(
      "of the definitions function are enough for everything that it does",
      async () => {
        const member = await memberWith("suffice", "sluice-definitions", clusterRights["sluice-definitions"]);
        await handle(member.cluster, "Create");
        // Over what is there already.
        await expect(wholeLife(member.cluster)).resolves.toBeUndefined();
        await member.close();
      },
      slowMs,
    );

    test(
      "of the definitions function are all needed: without any verb of any right a request is denied",
      async () => {
        const all = clusterRights["sluice-definitions"];
        const verbs = all.flatMap((right, at) => right.verbs.map(({ verb }) => ({ right, at, verb })));
        // Each is a whole life of the definitions on a real control plane.
        const cases = verbs.filter((_, index) => index % inGateOrDeep(8, 1) === 0);
        const notNeeded: string[] = [];
        for (const [index, { right, at, verb }] of cases.entries()) {
          // A definition that is still on its way out would need no right to create it.
          await clear(admin.cluster);
          const less = { ...right, verbs: right.verbs.filter((one) => one.verb !== verb) };
          const member = await memberWith(`less-${index}`, "sluice-definitions", all.with(at, less));
          // An API server that does not answer has denied nothing.
          const error: unknown = await answered(() => wholeLife(member.cluster)).catch((thrown: unknown) => thrown);
          const isDenied = error instanceof Error && error.cause instanceof ApiError && error.cause.code === 403;
          if (!isDenied) notNeeded.push(`${verb} ${right.resource} ${String(error)}`);
          await member.close();
        }
        await clear(admin.cluster);
        expect(notNeeded).toEqual([]);
      },
      slowMs,
    );

    test(
      "of the reconcile function are enough for its own objects, if another identity applies",
      async () => {
        await handle(admin.cluster, "Create");
        const member = await memberWith("reconcile", "sluice-reconcile", clusterRights["sluice-reconcile"]);
        let who = admin.cluster;
        const switched: Cluster = {
          ...admin.cluster,
          uid: (...call) => who.uid(...call),
          get: (...call) => who.get(...call),
          list: (...call) => who.list(...call),
          listMetadata: (...call) => who.listMetadata(...call),
          apply: (...call) => who.apply(...call),
          create: (...call) => who.create(...call),
          patch: (...call) => who.patch(...call),
          delete: (...call) => who.delete(...call),
        };
        const app = await world(switched, "rights");
        app.target = admin.cluster;
        const run = async () => {
          who = member.cluster;
          await app.run("app").finally(() => {
            who = admin.cluster;
          });
        };
        const revision = await app.publish("v1", [configMap("a"), configMap("b")]);
        await app.kustomization("app");
        await run();
        expect(await app.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
        expect(await app.events("app")).not.toEqual([]);
        // As the sweep does.
        for (const kind of [...declaredKinds.map(servedKind), ...configKinds("watched=Enabled", nobody)]) {
          await expect(member.cluster.listMetadata(kind, signal)).resolves.toBeDefined();
        }
        await app.publish("v2", [configMap("a")]);
        await run();
        expect(await app.get("ConfigMap", "b")).toBeUndefined();
        await app.remove("app");
        await run();
        expect(await app.get("Kustomization", "app", "kustomize.toolkit.fluxcd.io/v1")).toBeUndefined();
        await member.close();
      },
      slowMs,
    );

    test(
      "of the reconcile function are enough to apply as the service account of a Kustomization, and nothing else",
      async () => {
        await handle(admin.cluster, "Create");
        // An identity of its own, since one that is impersonated itself can impersonate nobody.
        const namespace = "rights-member";
        const make = (manifest: Manifest) =>
          admin.cluster.apply(manifest, { manager: "test", force: true }, signal).then(() => undefined);
        await make({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
        await make({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "sluice", namespace } });
        await memberWith(
          `system:serviceaccounts:${namespace}`,
          "sluice-reconcile",
          clusterRights["sluice-reconcile"],
        ).then((group) => group.close());
        const config = await readKubeconfig({ file: plane.adminKubeconfig, env: {}, homeDir: "/" });
        const token = { kind: "token", token: await tokenOf(namespace, "sluice", admin) } as const;
        const user = { ...config.user, certificate: undefined, token };
        await using ending = new AsyncDisposableStack();
        const member = connect({ ...config, user }, { clock: systemClock, env: {} });
        ending.defer(() => member.close());
        const app = await world(admin.cluster, "rights-of-accounts", (name) => member.as(name));
        app.target = member;
        await app.publish("v1", [configMap("a")]);
        await app.kustomization("app");
        await app.run("app");
        expect(await app.ready("app")).toMatch(
          /User "system:serviceaccount:rights-member:sluice" cannot (get|patch) resource "configmaps"/,
        );
        const inNamespace = { name: "deployer", namespace: app.namespace };
        await make({ apiVersion: "v1", kind: "ServiceAccount", metadata: inNamespace });
        await make({
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "RoleBinding",
          metadata: inNamespace,
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" },
          subjects: [{ kind: "ServiceAccount", ...inNamespace }],
        });
        await app.kustomization("app", { serviceAccountName: "deployer" });
        const deployer = member.as(`system:serviceaccount:${app.namespace}:deployer`);
        const probe = { group: "", version: "v1", kind: "ConfigMap", namespace: app.namespace, name: "probe" };
        await untilAllowed(() => deployer.get(probe, signal));
        await app.run("app");
        expect(await app.ready("app")).toMatch(/^True/);
        await app.remove("app");
        await app.run("app");
        expect(await app.get("ConfigMap", "a")).toBeUndefined();
      },
      slowMs,
    );

    test(
      "of the receiver function are enough for the token of a Receiver, and for nothing else",
      async () => {
        const member = await memberWith("receiver-alone", "sluice-receiver", clusterRights["sluice-receiver"]);
        const metadata = { name: "token", namespace: "default" };
        const secret = { apiVersion: "v1", kind: "Secret", metadata };
        await admin.cluster.apply({ ...secret, stringData: { token: "t" } }, { manager: "test", force: true }, signal);
        const read = async () => (await readSecretValues(asHome(member.cluster), metadata, signal))?.get("token");
        const token = await vi.waitFor(read, { timeout: deadlineMs, interval: 50 });
        expect(token?.reveal()).toBe("t");
        const core = { group: "", version: "v1" };
        const attempts = [
          () => member.cluster.list({ ...core, kind: "Secret", namespace: "default" }, signal),
          () =>
            member.cluster.get({ ...core, kind: "ConfigMap", namespace: "kube-system", name: "sluice-owner" }, signal),
          () =>
            member.cluster.apply({ ...secret, stringData: { token: "u" } }, { manager: "test", force: true }, signal),
        ];
        for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: 403 });
        await member.close();
      },
      slowMs,
    );

    test(
      "of the notify function are enough to deliver a notification and to report a failed one, and for nothing else",
      async () => {
        await handle(admin.cluster, "Create");
        const member = await memberWith("notify-alone", "sluice-notify", clusterRights["sluice-notify"]);
        const options = { manager: "test", force: true };
        const make = (manifest: Manifest) => admin.cluster.apply(manifest, options, signal);
        const apiVersion = "notification.toolkit.fluxcd.io/v1beta3";
        const named = (name: string) => ({ namespace: "default", name });
        const secret = { apiVersion: "v1", kind: "Secret", metadata: named("token") };
        await make({ ...secret, stringData: { token: "hunter2" } });
        const spec = { type: "generic", secretRef: { name: "token" } };
        await make({ apiVersion, kind: "Provider", metadata: named("hook"), spec });
        const alert = { providerRef: { name: "hook" }, eventSources: [{ kind: "Kustomization", name: "*" }] };
        await make({ apiVersion, kind: "Alert", metadata: named("on-call"), spec: alert });
        const tokens: string[] = [];
        const deliver = deliverNotifications({
          clusters: { get: () => ({ home: asHome(member.cluster) }) },
          providers: {
            generic: {
              class: "generic",
              make: ({ token }) => ({
                async post() {
                  tokens.push(token);
                  throw new Error("no such hook");
                },
              }),
            },
          },
          parts: {
            http: { send: () => Promise.reject(new Error("no request was expected")) },
            dial: () => Promise.reject(new Error("no connection was expected")),
            now: () => systemClock.now(),
            sleep: (ms, stop) => systemClock.sleep(ms, stop),
          },
          commitStatusOf: () => Promise.reject(new Error("no commit status was expected")),
          noCrossNamespaceRefs: false,
          ...{ gates: defaultGates, clock: systemClock, log: silentLog },
        });
        const event = notificationEventOf();
        const notification = { cluster: id, alert: named("on-call"), provider: named("hook"), eventKey: "k", event };
        await deliver(notification, signal);
        expect(tokens).toEqual(["hunter2"]);
        const core = { group: "", version: "v1" };
        const told = await admin.cluster.list({ ...core, kind: "Event", namespace: "default" }, signal);
        expect(told.filter(({ reason }) => reason === "NotificationDispatchFailed")).toHaveLength(1);
        const owner = { ...core, kind: "ConfigMap", namespace: "kube-system", name: "sluice-owner" };
        await member.cluster.get(owner, signal);
        const attempts = [
          () => member.cluster.list({ ...core, kind: "Secret", namespace: "default" }, signal),
          () => member.cluster.get({ ...core, kind: "ConfigMap", namespace: "default", name: "other" }, signal),
          () => member.cluster.apply({ ...secret, stringData: { token: "u" } }, options, signal),
        ];
        for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: 403 });
        await member.close();
      },
      slowMs,
    );

    describe("of the configuration function are enough for everything that it does", () => {
      let member: ClusterUnderTest;
      beforeAll(async () => {
        member = await memberWith("configuration", "sluice-configuration", clusterRights["sluice-configuration"]);
      });
      afterAll(() => member.close());
      configurationStories(
        "a real control plane",
        () => admin.cluster,
        () => member.cluster,
      );
    });

    test(
      "are limited to the listed namespaces",
      async () => {
        const members = await Promise.all([
          memberWith("configuration", "sluice-configuration", clusterRights["sluice-configuration"]),
          memberWith("reconcile", "sluice-reconcile", clusterRights["sluice-reconcile"]),
          memberWith("receiver", "sluice-receiver", clusterRights["sluice-receiver"]),
          memberWith("notify", "sluice-notify", clusterRights["sluice-notify"]),
          memberWith("suffice", "sluice-definitions", clusterRights["sluice-definitions"]),
        ]);
        const options = { manager: "test", force: true };
        const apply = (manifest: Manifest) => (cluster: Cluster) => cluster.apply(manifest, options, signal);
        const binding = {
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
          subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "anyone" }],
        };
        const rbac = "rbac.authorization.k8s.io/v1";
        const role = (name: string) => ({
          apiVersion: rbac,
          kind: "ClusterRole",
          metadata: { name },
          rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
        });
        const attempts: Readonly<Record<string, (cluster: Cluster) => Promise<unknown>>> = {
          "write a ConfigMap": apply(configMap("x", {}, { namespace: "default" })),
          "make a Deployment": apply({
            apiVersion: "apps/v1",
            kind: "Deployment",
            metadata: { name: "x", namespace: "default" },
          }),
          "list ServiceAccounts": (cluster) =>
            cluster.list({ group: "", version: "v1", kind: "ServiceAccount" }, signal),
          "write another ClusterRole": apply(role("other")),
          "give its own ClusterRole more": apply(role("sluice-reconcile")),
          "bind cluster-admin": apply({
            apiVersion: rbac,
            kind: "ClusterRoleBinding",
            metadata: { name: "sluice-reconcile" },
            ...binding,
          }),
          "delete a namespace": (cluster) =>
            cluster.delete(
              { group: "", version: "v1", kind: "Namespace", namespace: "", name: "default" },
              { propagation: "Background" },
              signal,
            ),
          "list namespaces": (cluster) => cluster.list({ group: "", version: "v1", kind: "Namespace" }, signal),
        };
        const readNamespace = (cluster: Cluster): Promise<unknown> =>
          cluster.get({ group: "", version: "v1", kind: "Namespace", namespace: "", name: "default" }, signal);
        await handle(admin.cluster, "Create");
        for (const [what, attempt] of Object.entries(attempts)) {
          for (const { cluster } of members) {
            const error: unknown = await attempt(cluster).catch((thrown: unknown) => thrown);
            expect([what, error]).toEqual([what, expect.objectContaining({ code: 403 })]);
          }
        }
        // Reconcile reads the labels of a namespace that spec.accessFrom asks for, and the definitions function has what it grants.
        const read = (cluster: Cluster) => readNamespace(cluster).catch((thrown: unknown) => thrown);
        const answers = await Promise.all(members.map(({ cluster }) => read(cluster)));
        const refused = expect.objectContaining({ code: 403 });
        const found = expect.objectContaining({ kind: "Namespace" });
        expect(answers).toEqual([refused, found, refused, refused, found]);
        await Promise.all(members.map((member) => member.close()));
      },
      slowMs,
    );
  });
});

/** Short pauses take their time, since definitions do; long ones, for access entries, are over at once. */
function impatientClock(): Clock {
  let skippedMs = 0;
  return {
    ...systemClock,
    monotonic: () => systemClock.monotonic() + skippedMs,
    async sleep(ms, stop) {
      if (ms < 1_000) return systemClock.sleep(ms, stop);
      skippedMs += ms;
    },
  };
}

/** Repeats what can be repeated while the API server does not answer in time, as under load. */
async function answered<Result>(work: () => Promise<Result>): Promise<Result> {
  const giveUpAt = Date.now() + deadlineMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const faults = error instanceof Error ? [error, error.cause] : [];
      const isUnanswered = faults.some((fault) => fault instanceof ApiError && fault.reason === "Unreachable");
      if (!isUnanswered || Date.now() > giveUpAt) throw error;
    }
  }
}

const address = "https://127.0.0.1";
const readStored = async () => new Secret("0".repeat(64));
const nobody = {
  subscriptions: { subscribers: async () => [] },
  requests: { request: async () => undefined },
};

async function tokenOf(namespace: string, account: string, { api }: ClusterUnderTest): Promise<Secret> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const json = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
  const body = { type: "application/json", json };
  const { text } = await api.expect({ verb: "create", method: "POST", path, body, repeatable: true }, signal);
  return new Secret(z.object({ status: z.object({ token: z.string() }) }).parse(JSON.parse(text)).status.token);
}

/** The same rights, of another group. */
function renamed(manifest: Manifest, group: string): Manifest {
  const { roleRef, subjects } = manifest;
  const metadata = { ...manifest.metadata, name: group };
  if (roleRef === undefined || subjects === undefined) return { ...manifest, metadata };
  const named = { apiGroup: "rbac.authorization.k8s.io", name: group };
  const kind = manifest.kind === "ClusterRoleBinding" ? "ClusterRole" : "Role";
  return { ...manifest, metadata, roleRef: { ...named, kind }, subjects: [{ ...named, kind: "Group" }] };
}
