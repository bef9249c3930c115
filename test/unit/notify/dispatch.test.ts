import { describe, expect, test } from "vitest";
import { eventManifest } from "../../../lib/core/event-manifest.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { windowMs } from "../../../lib/core/ports/event-windows.ts";
import type { Flow } from "../../../lib/core/ports/run.ts";
import { dispatchEvents } from "../../../lib/notify/dispatch.ts";
import { requestReconcile } from "../../../lib/queue/request-reconcile.ts";
import { key, queueWorld } from "../queue/queue-world.ts";
import { cluster, notifyWorld } from "./notify-world.ts";

const never = new AbortController().signal;
const apiVersion = "notification.toolkit.fluxcd.io/v1beta3";
const shop: LiveObject = {
  apiVersion: "kustomize.toolkit.fluxcd.io/v1",
  kind: "Kustomization",
  metadata: { name: "shop", namespace: "retail", uid: "u", resourceVersion: "7" },
};

function world() {
  const one = notifyWorld();
  const sink = dispatchEvents(one.dispatchDeps);
  return {
    ...one,
    alert(name: string, spec: JsonObject = {}): void {
      const eventSources = [{ kind: "Kustomization", name: "*" }];
      const whole = { providerRef: { name: "chat" }, eventSources, ...spec };
      one.apply({ apiVersion, kind: "Alert", metadata: { name, namespace: "retail" }, spec: whole });
    },
    tell: async (type: "Normal" | "Warning", message: string, object = shop) =>
      sink.tell(
        cluster,
        eventManifest(
          object,
          { type, reason: "Progressing", message, annotations: { "kustomize.toolkit.fluxcd.io/revision": "v1" } },
          "kustomize-controller",
          one.state.now,
        ),
        undefined,
        never,
      ),
  };
}

describe("an event that was recorded", () => {
  test("costs one list of Alerts in ten seconds if there are none, and opens no window", async () => {
    const one = world();
    for (let index = 0; index < 5; index++) await one.tell("Normal", "again");
    expect([one.lists, one.queued]).toEqual([["Alert"], []]);
    one.alert("later");
    await one.tell("Normal", "again");
    expect(one.queued).toHaveLength(1);
    one.state.now += 10_000;
    await one.tell("Normal", "other");
    expect(one.lists).toHaveLength(3);
  });

  test("is queued for each Alert that sends it, as Flux's controllers post it", async () => {
    const one = world();
    one.alert("all");
    one.alert("errors", { eventSeverity: "error" });
    one.alert("elsewhere", { eventSources: [{ kind: "Kustomization", name: "cart" }] });
    await one.tell("Normal", "Applied");
    await one.tell("Warning", "Failed");
    expect(one.queued.map(({ alert, event }) => `${alert.name}: ${event.severity} ${event.message}`)).toEqual([
      "all: info Applied",
      "all: error Failed",
      "errors: error Failed",
    ]);
    expect(one.queued[0]).toEqual({
      cluster,
      alert: { namespace: "retail", name: "all" },
      provider: { namespace: "retail", name: "chat" },
      eventKey: expect.stringMatching(/^[0-9a-f]{64}$/),
      event: {
        involvedObject: {
          ...{ apiVersion: shop.apiVersion, kind: "Kustomization", namespace: "retail", name: "shop", uid: "u" },
          resourceVersion: "7",
        },
        severity: "info",
        timestamp: "2026-11-24T12:00:00Z",
        message: "Applied",
        reason: "Progressing",
        metadata: { "kustomize.toolkit.fluxcd.io/revision": "v1" },
        reportingController: "kustomize-controller",
        reportingInstance: "sluice",
      },
    });
  });

  test("36, 37: is sent once in five minutes, whatever its severity", async () => {
    const one = world();
    one.alert("all");
    await one.tell("Normal", "Same");
    await one.tell("Warning", "Same");
    expect(one.queued).toHaveLength(1);
    one.state.now += windowMs;
    await one.tell("Normal", "Same");
    expect(one.queued).toHaveLength(2);
  });

  test("38: that no Alert selects counts as new once there is an Alert", async () => {
    const one = world();
    one.alert("elsewhere", { eventSources: [{ kind: "Bucket", name: "*" }] });
    await one.tell("Normal", "Same");
    one.alert("all");
    await one.tell("Normal", "Same");
    expect(one.queued).toHaveLength(1);
  });

  test("about an Alert, a Provider or a Receiver is not sent", async () => {
    const one = world();
    one.alert("all");
    await one.tell("Warning", "x", { ...shop, apiVersion, kind: "Alert" });
    expect([one.queued, one.lists]).toEqual([[], []]);
  });

  test("45: about an object without the labels of the source is not sent, and Alerts read the object once", async () => {
    const one = world();
    const source = { kind: "Kustomization", name: "*" };
    one.alert("a", { eventSources: [{ ...source, matchLabels: { team: "x" } }] });
    one.alert("b", { eventSources: [{ ...source, matchLabels: { team: "y" } }] });
    one.apply({ ...shop, metadata: { ...shop.metadata, labels: { team: "y" } } });
    await one.tell("Normal", "Applied");
    expect(one.queued.map(({ alert }) => alert.name)).toEqual(["b"]);
    expect(one.reads).toEqual(["Kustomization/shop"]);
    one.remove("Kustomization/retail/shop");
    await one.tell("Normal", "Deleted");
    expect(one.told()).toEqual(
      ["a", "b"].map(
        (name) => `Alert/${name} Warning SourceFetchFailed error getting source object Kustomization/retail/shop`,
      ),
    );
  });

  test("that cannot be queued throws, so that it is kept, and is queued once when it is retried", async () => {
    const one = world();
    one.alert("all");
    one.state.queueFault = new Error("the queue is away");
    await expect(one.tell("Normal", "Applied")).rejects.toThrow("the queue is away");
    one.state.queueFault = undefined;
    await one.tell("Normal", "Applied");
    await one.tell("Normal", "Applied");
    expect(one.queued).toHaveLength(1);
  });

  test.each([
    { why: "the role has no right to list them", code: 403, what: "is logged, because a retry does not help" },
    { why: "the cluster is busy", code: 503, what: "throws, so that it is kept" },
    { why: "no answer comes", code: 0, what: "throws, so that it is kept" },
  ])("whose Alerts cannot be listed because $why, $what", async ({ code, what }) => {
    const one = world();
    const alerts = {
      of: () => Promise.reject(new ApiError({ code, reason: "Unknown", message: "no list" })),
      forget: () => undefined,
    };
    const sink = dispatchEvents({ ...one.dispatchDeps, alerts });
    const words = { type: "Normal", reason: "Progressing", message: "Applied", annotations: {} } as const;
    const event = eventManifest(shop, words, "kustomize-controller", 0);
    const thrown = await sink.tell(cluster, event, undefined, never).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    const logged = one.log.lines.map(({ error }) => error);
    const isKept = what.includes("kept");
    expect([thrown, logged]).toEqual(isKept ? ["ApiError: no list", []] : [undefined, ["no list"]]);
  });

  test("in a run during an outage of the queue arrives once, after the outage, and the run continues", async () => {
    const one = world();
    one.alert("all");
    const queue = queueWorld();
    const deps = { ...queue.deps, events: dispatchEvents(one.dispatchDeps) };
    const words = { type: "Normal", reason: "Progressing", message: "Applied", annotations: {} } as const;
    let applied = 0;
    const flow: Flow = async ({ events, signal }) => {
      if (applied++ === 0) {
        await events?.tell(cluster, eventManifest(shop, words, "kustomize-controller", 0), undefined, signal);
      }
      return { outcome: "applied", dueInMs: undefined };
    };
    const queueIs = (fault: Error | undefined): void => {
      one.state.queueFault = fault;
    };
    queueIs(new Error("the queue is away"));
    await requestReconcile({ ...key, cluster }, "test", deps, never);
    for (let turn = 0; turn < 6; turn++) {
      if (turn === 4) queueIs(undefined);
      const sent = queue.sent.splice(0);
      for (const { wakeUp, delayMs } of sent) {
        queue.freeze(delayMs);
        one.state.now += delayMs;
        await queue.handle(flow, wakeUp, never, deps);
      }
    }
    expect(one.queued.map(({ event }) => event.message)).toEqual(["Applied"]);
    expect([applied, queue.sent]).toEqual([5, []]);
  });

  test("of a cluster that is not served here is not sent", async () => {
    const one = world();
    one.alert("all");
    const { clusters: _own, ...deps } = one.dispatchDeps;
    const sink = dispatchEvents({ ...deps, clusters: { get: () => undefined } });
    const words = { type: "Normal", reason: "Progressing", message: "Applied", annotations: {} } as const;
    await sink.tell("other", eventManifest(shop, words, "kustomize-controller", 0), undefined, never);
    expect(one.queued).toEqual([]);
  });
});
