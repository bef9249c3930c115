import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { asHome } from "../../../lib/core/ports/home-and-target.ts";
import { type Http, HttpError } from "../../../lib/core/ports/http.ts";
import type { ServiceAddress, ServiceProxy } from "../../../lib/core/ports/service-proxy.ts";
import { HostSetupError } from "../../../lib/git-hosts/host-settings.ts";
import type { DeliverDeps } from "../../../lib/notify/deliver.ts";
import { deliverNotifications } from "../../../lib/notify/deliver.ts";
import { generic } from "../../../lib/notify/providers/generic.ts";
import { notifyWorld } from "./notify-world.ts";
import { kustomizationEvent, metadata } from "./sample-events.ts";

const apiVersion = "notification.toolkit.fluxcd.io/v1beta3";
const namespace = "retail";
const address = "https://hooks.example.test/services/T0/B0/Xq7Zt";
const about = "Kustomization/retail/shop";

/** A world with an Alert for every Kustomization, and its Provider. */
function world(
  { alert = {}, provider = {}, secret }: { alert?: JsonObject; provider?: JsonObject | null; secret?: JsonObject } = {},
  change: Partial<DeliverDeps> = {},
) {
  const one = notifyWorld(change);
  const eventSources = [{ kind: "Kustomization", name: "*" }];
  one.apply({
    ...{ apiVersion, kind: "Alert", metadata: { name: "alert", namespace } },
    spec: { providerRef: { name: "chat" }, eventSources, ...alert },
  });
  if (provider !== null) {
    const metadataOf = { name: "chat", namespace };
    const spec = {
      type: "generic",
      ...(secret === undefined ? { address } : { secretRef: { name: "login" } }),
      ...provider,
    };
    one.apply({ apiVersion, kind: "Provider", metadata: metadataOf, spec });
  }
  if (secret !== undefined) {
    one.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "login", namespace }, stringData: secret });
  }
  return one;
}
const fail = (): never => {
  throw new Error("no connection is expected");
};
const failed = (what: "dispatch" | "send", why: string) =>
  `Alert/alert Warning NotificationDispatchFailed failed to ${what} notification for ${about}: ${why}`;

/** A world whose Providers of type `generic` are those of Flux, with what was sent to Services of the cluster. */
function inClusterWorld(provider: JsonObject, change: Partial<DeliverDeps> = {}) {
  const sent: { readonly service: ServiceAddress; readonly url: string }[] = [];
  const services: ServiceProxy = {
    async send(service, { url }) {
      sent.push({ service, url });
      return { url, status: 200, headers: {}, body: Buffer.from("") };
    },
  };
  const one = world({ provider }, { providers: { generic: { class: "generic", make: generic } }, ...change });
  const deliver = deliverNotifications({ ...one.deliverDeps, clusters: { get: () => ({ home: one.home, services }) } });
  const send = async () => {
    await one.dispatch(kustomizationEvent());
    for (const notification of one.queued.splice(0)) await deliver(notification, new AbortController().signal);
  };
  return { send, sent, told: one.told };
}

describe("a notification for a Service in the cluster", () => {
  const ofNeighbour = "http://hook.monitoring.svc:8080/events";

  test("goes through the API server of its cluster", async () => {
    const { send, sent, told } = inClusterWorld({ address: ofNeighbour }, { serviceNamespaces: ["monitoring"] });
    await send();
    const service = { scheme: "http", namespace: "monitoring", name: "hook", port: 8080 };
    expect(sent).toEqual([{ service, url: ofNeighbour }]);
    expect(told()).toEqual([]);
  });

  test("may go to the Alert's own namespace and to listed ones; the Alert reports others", async () => {
    const own = inClusterWorld({ address: "http://hook.retail.svc" }, { serviceNamespaces: ["monitoring"] });
    await own.send();
    expect(own.sent).toHaveLength(1);
    const other = inClusterWorld({ address: "http://hook.payments.svc" }, { serviceNamespaces: ["monitoring"] });
    await other.send();
    expect(other.sent).toEqual([]);
    expect(other.told()[0]).toContain("notification-service-namespaces does not list namespace payments");
  });

  test("is sent as to any other host if no namespace is listed", async () => {
    const { send, sent, told } = inClusterWorld({ address: ofNeighbour });
    await send();
    expect(sent).toEqual([]);
    expect(told()[0]).toContain("no test of this world connects to anything");
  });
});

describe("a notification", () => {
  test("reaches its Provider with the merged metadata, and no event is sent about it", async () => {
    const one = world({ alert: { eventMetadata: { env: "prod" } } });
    await one.send(kustomizationEvent({ metadata: metadata({ revision: "v1" }) }));
    expect(one.posted.map(({ event }) => event.metadata)).toEqual([{ env: "prod", revision: "v1" }]);
    expect(one.told()).toEqual([]);
  });

  test("46: with a key from several sources is sent, and the Alert reports it, with the sources as annotations", async () => {
    const one = world({ alert: { eventMetadata: { env: "b" } } });
    await one.send(kustomizationEvent({ metadata: metadata({ env: "c" }, { env: "a" }) }));
    expect(one.posted.map(({ event }) => event.metadata)).toEqual([{ env: "c" }]);
    expect(one.events[0]?.metadata.annotations).toEqual({
      env: "involved object annotations, Alert object .spec.eventMetadata, involved object controller metadata",
    });
    expect(one.told()).toEqual([
      "Alert/alert Warning MetadataAppendFailed metadata key conflicts detected (please refer to the Alert API docs and Flux RFC 0008 for more information): env (involved object annotations, Alert object .spec.eventMetadata, involved object controller metadata)",
    ]);
  });

  test("50: for a suspended Provider or Alert is dropped silently, also if it was suspended meanwhile", async () => {
    const suspended = world({ provider: { suspend: true } });
    await suspended.send(kustomizationEvent());
    const meanwhile = world();
    await meanwhile.dispatch(kustomizationEvent());
    const spec = { suspend: true, providerRef: { name: "chat" }, eventSources: [] };
    meanwhile.apply({ apiVersion, kind: "Alert", metadata: { name: "alert", namespace }, spec });
    for (const notification of meanwhile.queued) await meanwhile.deliver(notification, new AbortController().signal);
    expect([suspended.posted, suspended.told(), meanwhile.posted, meanwhile.told()]).toEqual([[], [], [], []]);
  });

  test("51: for a missing Provider fails on the Alert", async () => {
    const one = world({ provider: null });
    expect(await one.send(kustomizationEvent())).toBe("first");
    expect(one.told()).toEqual([
      failed("dispatch", 'failed to read provider: Provider.notification.toolkit.fluxcd.io "chat" not found'),
    ]);
  });

  test("is not sent to a Provider of the same name in another namespace", async () => {
    const one = world({ provider: null });
    one.apply({
      apiVersion,
      kind: "Provider",
      metadata: { name: "chat", namespace: "payments" },
      spec: { type: "generic", address },
    });
    await one.send(kustomizationEvent());
    expect(one.posted).toEqual([]);
    expect(one.told()).toEqual([expect.stringContaining('"chat" not found')]);
  });

  test("for another namespace is refused if the installation forbids that", async () => {
    const source = { kind: "Kustomization", name: "*", namespace: "other" };
    const one = world({ alert: { eventSources: [source] } }, { noCrossNamespaceRefs: true });
    await one.send(kustomizationEvent({ involvedObject: { kind: "Kustomization", namespace: "other", name: "shop" } }));
    expect(one.posted).toEqual([]);
    expect(one.told()[0]).toContain(
      "for Kustomization/other/shop: discarding event, access denied to cross-namespace sources: alert 'retail/alert' can't process event from 'Kustomization/other/shop', cross-namespace references have been blocked",
    );
  });

  test("70: for a Provider with a service account needs the feature gate", async () => {
    const provider = { type: "slack", serviceAccountName: "robot" };
    const one = world({ provider });
    await one.send(kustomizationEvent());
    const text =
      "to use spec.serviceAccountName for provider authentication please enable the ObjectLevelWorkloadIdentity feature gate in the controller";
    expect(one.told()).toEqual([failed("dispatch", text)]);
    const open = world({ provider }, { gates: { ObjectLevelWorkloadIdentity: true } });
    await open.send(kustomizationEvent());
    expect([open.posted.length, open.told()]).toEqual([1, []]);
  });

  test("for an unknown type fails on the Alert", async () => {
    const one = world({ provider: { type: "matrix" } });
    await one.send(kustomizationEvent());
    const why =
      "failed to initialize notifier for provider 'chat': failed to initialize notifier: provider matrix not supported";
    expect(one.told()).toEqual([failed("dispatch", why)]);
  });

  test("whose Provider cannot log in fails as a setup, as in Flux, which logs in first", async () => {
    const one = world();
    one.state.fault = new HostSetupError("failed to get authenticated user info");
    await one.send(kustomizationEvent());
    const why =
      "failed to initialize notifier for provider 'chat': failed to initialize notifier: failed to get authenticated user info";
    expect(one.told()).toEqual([failed("dispatch", why)]);
  });

  test("48: for a git host is dropped without a commit; an error is sent as commit status", async () => {
    const one = world({ provider: { type: "github" } });
    await one.send(kustomizationEvent());
    expect([one.posted, one.told()]).toEqual([[], []]);
    await one.send(kustomizationEvent({ severity: "error", message: "failed" }));
    expect(one.posted.map(({ settings }) => settings.commitStatus)).toEqual(["status"]);
  });

  test("65: whose commit status expression has no result fails on the Alert", async () => {
    const commitStatusOf = async (): Promise<never> => {
      throw new Error("no such key: env");
    };
    const one = world({ provider: { type: "github" } }, { commitStatusOf });
    await one.send(kustomizationEvent({ severity: "error" }));
    expect(one.told()).toEqual([failed("dispatch", "failed to create commit status: no such key: env")]);
  });

  test.each(["Alert", "Provider", "Secret"])(
    "is retried later without an event if the cluster does not answer for the %s",
    async (silent) => {
      const one = world({ secret: { address } });
      await one.dispatch(kustomizationEvent());
      const get: typeof one.home.get = async (ref, signal) => {
        if (ref.kind !== silent) return one.home.get(ref, signal);
        throw new ApiError({ code: 0, reason: "Unreachable", message: "no answer" });
      };
      const clusters = { get: () => ({ home: asHome({ ...one.home, get }) }) };
      const deliver = deliverNotifications({ ...one.deliverDeps, clusters });
      const [notification] = one.queued;
      if (notification === undefined) throw new Error("nothing was queued");
      await expect(deliver(notification, new AbortController().signal)).rejects.toThrow("no answer");
      expect([one.told(), one.posted]).toEqual([[], []]);
    },
  );

  test("whose Alert is deleted, or whose cluster is no longer served, is dropped", async () => {
    const one = world();
    await one.dispatch(kustomizationEvent());
    const [notification] = one.queued;
    if (notification === undefined) throw new Error("nothing was queued");
    one.remove("Alert/retail/alert");
    await one.deliver(notification, new AbortController().signal);
    await one.deliver({ ...notification, cluster: "other" }, new AbortController().signal);
    expect([one.posted, one.told()]).toEqual([[], []]);
  });

  test("that takes longer than the Provider's timeout fails with Go's text; a process shutdown does not count as a timeout", async () => {
    const waits: number[] = [];
    const hanging = { class: "generic", make: () => ({ post: () => new Promise<never>(() => undefined) }) } as const;
    const one = world({ provider: { timeout: "1m30s" } }, { providers: { generic: hanging } });
    await one.dispatch(kustomizationEvent());
    const [notification] = one.queued;
    if (notification === undefined) throw new Error("nothing was queued");
    const clock = { ...one.deliverDeps.clock, sleep: async (ms: number) => void waits.push(ms) };
    await deliverNotifications({ ...one.deliverDeps, clock })(notification, new AbortController().signal);
    expect(waits).toEqual([90_000]);
    expect(one.told()).toEqual([failed("send", "context deadline exceeded")]);
    const ending = new AbortController();
    const ended = one.deliver(notification, ending.signal);
    ending.abort(new Error("the process ends"));
    await expect(ended).rejects.toThrow("the process ends");
    expect(one.told()).toEqual([]);
  });

  const url = "POST https://hooks.example.test/services";
  test.each([
    {
      what: "the request found no host",
      send: () => new HttpError("unreachable", `${url}: dial tcp: lookup hooks.example.test: no such host`),
      why: "the only request within 15s: dial tcp: lookup hooks.example.test: no such host; correct the address of the Provider, or start the receiver there",
    },
    {
      what: "the request was answered with an error",
      send: () => ({ url: address, status: 503, headers: {}, body: Buffer.from("") }),
      why: "the only request within 15s: hooks.example.test answered with status 503; look at the log of the receiver",
    },
    {
      what: "the host did not answer",
      send: () => undefined,
      why: "the only request within 15s: hooks.example.test did not answer; correct the address, or raise spec.timeout of the Provider",
    },
  ])("that takes longer than the Provider's timeout fails and says that $what", async ({ send, why }) => {
    const timeout = Promise.withResolvers<void>();
    const untilAborted = (signal: AbortSignal): Promise<never> => {
      timeout.resolve();
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
    const http: Http = {
      async send(_, signal) {
        const outcome = send();
        if (outcome === undefined) return untilAborted(signal);
        if (outcome instanceof Error) throw outcome;
        return outcome;
      },
    };
    const parts = { http, dial: fail, now: () => 0, sleep: (_: number, signal: AbortSignal) => untilAborted(signal) };
    const one = world({}, { parts, providers: { generic: { class: "generic", make: generic } } });
    await one.dispatch(kustomizationEvent());
    const clock = { ...one.deliverDeps.clock, sleep: () => timeout.promise };
    for (const notification of one.queued) {
      await deliverNotifications({ ...one.deliverDeps, clock })(notification, new AbortController().signal);
    }
    expect(one.told()).toEqual([failed("send", `context deadline exceeded; ${why}`)]);
  });
});

describe("the text of a failed notification", () => {
  const secret = {
    address,
    token: "q7Zt-58fe21c0b94d",
    password: "pass word",
    username: "robot",
    headers: "authorization: Bearer abcdef123456\n",
  };

  test("68: hides every value of the Secret, in any form", async () => {
    const one = world({ secret });
    const parts = [
      secret.token,
      address,
      "/services/T0/B0/Xq7Zt",
      encodeURIComponent(secret.password),
      "Bearer abcdef123456",
    ];
    one.state.fault = new Error(`postMessage failed: ${parts.join(" and ")}`);
    await one.send(kustomizationEvent());
    expect(one.told()).toEqual([failed("send", `postMessage failed: ${parts.map(() => "*****").join(" and ")}`)]);
    expect(JSON.stringify(one.log.lines)).not.toMatch(/q7Zt|abcdef|pass/);
  });

  test("68: hides them during the setup too, unlike in Flux", async () => {
    const make = (): never => {
      throw new Error(`invalid token ${secret.token}`);
    };
    const one = world({ secret }, { providers: { generic: { class: "generic", make } } });
    await one.send(kustomizationEvent());
    const why = "failed to initialize notifier for provider 'chat': failed to initialize notifier: invalid token *****";
    expect(one.told()).toEqual([failed("dispatch", why)]);
  });
});
