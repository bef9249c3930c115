import { describe, expect, test } from "vitest";
import { composeNotify } from "../../../functions/compose-notify.ts";
import { defaultGates } from "../../../lib/core/feature-gates.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import type { ServedCluster } from "../../../lib/gate/served-clusters.ts";
import type { ProviderType } from "../../../lib/notify/admits.ts";
import { notificationBody } from "../../../lib/notify/notification-message.ts";
import { noHome, noTarget } from "../../doubles/no-cluster.ts";
import { openGate } from "../../doubles/open-gate.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";
import { notificationEventOf } from "../notify/notification-event-of.ts";
import { notifyWorld } from "../notify/notify-world.ts";

const never = new AbortController().signal;

function objectOf(kind: string, name: string, spec: object): LiveObject {
  const metadata = { namespace: "apps", name, uid: `${name}-uid`, resourceVersion: "1", generation: 1 };
  return { apiVersion: "notification.toolkit.fluxcd.io/v1beta3", kind, metadata, spec };
}

const alert = objectOf("Alert", "on-call", { providerRef: { name: "topic" }, eventSources: [] });
const provider = objectOf("Provider", "topic", { type: "sns", address: "arn" });

/** A process that serves the clusters `home` and `other`, whose Providers of type `sns` do this. */
function world(given: { readonly post?: () => Promise<void>; readonly get?: () => Promise<undefined> } = {}) {
  const sent: string[] = [];
  const created: Manifest[] = [];
  const log = recordedLog();
  const served = (id: string): ServedCluster => ({
    ...{ id, targetAs: () => noTarget, gated: () => noTarget, gate: openGate },
    home: {
      ...noHome,
      get:
        given.get ??
        (async ({ kind, name }) => [alert, provider].find((one) => one.kind === kind && one.metadata.name === name)),
      create: async (manifest) => {
        created.push(manifest);
        return objectOf("Event", "e", {});
      },
    },
  });
  const sns = (cluster: string): ProviderType => ({
    class: "other",
    make: ({ address }) => ({
      async post({ reason }) {
        await given.post?.();
        sent.push(`${cluster} ${address} ${reason}`);
      },
    }),
  });
  const asked: string[] = [];
  const clock = {
    ...steppedClock(),
    sleep: (_: number, signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("over")))),
  };
  const handle = composeNotify({
    clusters: { get: (id) => (["home", "other"].includes(id) ? served(id) : undefined) },
    providersOf(cluster) {
      asked.push(cluster);
      return { sns: sns(cluster) };
    },
    parts: {
      http: { send: () => Promise.reject(new Error("no request was expected")) },
      dial: () => Promise.reject(new Error("no connection was expected")),
      now: () => clock.now(),
      sleep: () => Promise.reject(new Error("no wait was expected")),
    },
    commitStatusOf: () => Promise.reject(new Error("no commit status was expected")),
    noCrossNamespaceRefs: false,
    gates: defaultGates,
    hide: async () => undefined,
    ...{ clock, log },
  });
  const takeBodies = async (...bodies: readonly string[]) => {
    const Records = bodies.map((body, index) => ({
      ...{ messageId: `${index}`, receiptHandle: "r", body },
      attributes: { MessageGroupId: `${index}`, ApproximateReceiveCount: "1" },
    }));
    return (await handle({ Records }, never)).batchItemFailures.length;
  };
  const take = (...clusters: readonly string[]) =>
    takeBodies(
      ...clusters.map((cluster) =>
        notificationBody({
          ...{ cluster, eventKey: "k", event: notificationEventOf() },
          alert: { namespace: "apps", name: "on-call" },
          provider: { namespace: "apps", name: "topic" },
        }),
      ),
    );
  return { take, takeBodies, sent, created, log, asked };
}

test("the event that a run sends is the one that the function delivers", async () => {
  const dispatching = notifyWorld();
  const metadata = { name: "on-call", namespace: "apps" };
  const spec = { providerRef: { name: "topic" }, eventSources: [{ kind: "Kustomization", name: "*" }] };
  dispatching.apply({ apiVersion: "notification.toolkit.fluxcd.io/v1beta3", kind: "Alert", metadata, spec });
  await dispatching.dispatch(notificationEventOf());
  const [queued, ...others] = dispatching.queued.map((one) => notificationBody({ ...one, cluster: "home" }));
  expect(others).toEqual([]);
  const { takeBodies, sent } = world();
  expect(await takeBodies(queued ?? "")).toBe(0);
  expect(sent).toEqual(["home arn HealthCheckFailed"]);
});

describe("a process that delivers notifications", () => {
  test("sends each notification with the Provider types of its cluster, which are created once", async () => {
    const { take, sent, asked } = world();
    expect(await take("home", "other")).toBe(0);
    expect(await take("home")).toBe(0);
    expect(sent.toSorted()).toEqual([
      "home arn HealthCheckFailed",
      "home arn HealthCheckFailed",
      "other arn HealthCheckFailed",
    ]);
    expect(asked.toSorted()).toEqual(["home", "other"]);
  });

  test("does nothing for a cluster that it does not serve", async () => {
    const { take, sent, asked } = world();
    expect(await take("elsewhere")).toBe(0);
    expect([...sent, ...asked]).toEqual([]);
  });

  test("reports a Provider's refusal on the Alert, and removes the message", async () => {
    const { take, created } = world({ post: () => Promise.reject(new Error("no such topic")) });
    expect(await take("home")).toBe(0);
    expect(created).toMatchObject([
      {
        kind: "Event",
        reason: "NotificationDispatchFailed",
        message: "failed to send notification for Kustomization/apps/web: no such topic",
        involvedObject: { kind: "Alert", namespace: "apps", name: "on-call" },
      },
    ]);
  });

  test("retries a message if its cluster does not answer", async () => {
    const get = () => Promise.reject(new ApiError({ code: 0, reason: "Unreachable", message: "no route" }));
    const { take, created, log } = world({ get });
    expect(await take("home")).toBe(1);
    expect(created).toEqual([]);
    expect(log.lines).toMatchObject([{ message: "notification not handled", error: "no route" }]);
  });
});
