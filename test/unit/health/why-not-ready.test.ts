import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import { type LiveObject, refOf } from "../../../lib/core/manifest.ts";
import { ApiError, type ListQuery } from "../../../lib/core/ports/cluster.ts";
import { maxExplained, maxQuotedBytes, whyNotReady } from "../../../lib/health/why-not-ready.ts";
import { noTarget } from "../../doubles/no-cluster.ts";

const { signal } = new AbortController();

const deployment = (name: string): LiveObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "t", uid: `uid-of-${name}` },
  spec: { selector: { matchLabels: { app: name } } },
});
const pod = (name: string, status: JsonObject): LiveObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "t", uid: `uid-of-${name}` },
  status,
});
const event = (of: string, reason: string, message: string, lastTimestamp: string): LiveObject => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: reason.toLowerCase(), namespace: "t", uid: reason },
  involvedObject: { uid: `uid-of-${of}` },
  type: "Warning",
  ...{ reason, message, lastTimestamp },
});
const unhealthy = (object: LiveObject, message = "") => ({
  ref: refOf(object),
  status: "InProgress" as const,
  message,
  object,
});

/** A cluster with these Pods and Events. */
function cluster(pods: readonly LiveObject[], events: readonly LiveObject[], forbidden: readonly string[] = []) {
  const asked: string[] = [];
  const list = async ({ kind, labelSelector, fieldSelector = "" }: ListQuery) => {
    asked.push(`${kind} ${labelSelector ?? fieldSelector}`);
    if (forbidden.includes(kind)) throw new ApiError({ code: 403, reason: "Forbidden", message: "no" });
    if (kind === "Pod") return pods;
    return events.filter((one) => fieldSelector === `involvedObject.uid=${uidOf(one)},type=Warning`);
  };
  return { target: { ...noTarget, list }, asked };
}

function uidOf({ involvedObject }: LiveObject): string {
  return typeof involvedObject === "object" && involvedObject !== null && "uid" in involvedObject
    ? String(involvedObject.uid)
    : "";
}

const pulling = pod("web-1", {
  phase: "Pending",
  containerStatuses: [
    { name: "proxy", state: { running: {} } },
    { name: "app", state: { waiting: { reason: "ImagePullBackOff", message: 'Back-off pulling image "x"' } } },
  ],
});

describe("the reason why an object is not ready", () => {
  test("is kstatus' message, the failing container and the newest Warning about the object or its Pod", async () => {
    const { target } = cluster(
      [pod("web-0", { phase: "Running" }), pulling],
      [
        event("web", "Older", "of the Deployment", "2026-01-01T00:00:00Z"),
        event("web-1", "Failed", "image\n  not found", "2026-01-01T00:00:05Z"),
      ],
    );
    expect(await whyNotReady([unhealthy(deployment("web"), "Available: 1/2")], target, signal)).toEqual([
      'Deployment/t/web: Available: 1/2; container app of Pod/t/web-1 waits: ImagePullBackOff: Back-off pulling image "x"; Warning Failed: image not found',
    ]);
  });

  test.each<[string, JsonObject, string]>([
    [
      "crashes again and again",
      {
        name: "app",
        state: { waiting: { reason: "CrashLoopBackOff" } },
        lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } },
      },
      "container app of Pod/t/web-1 waits: CrashLoopBackOff, its last run ended with exit code 137 (OOMKilled)",
    ],
    [
      "has ended",
      { name: "app", state: { terminated: { exitCode: 2, reason: "Error", message: "no such table" } } },
      "container app of Pod/t/web-1 ended with exit code 2 (Error: no such table)",
    ],
    ["is being created", { name: "app", state: { waiting: { reason: "ContainerCreating" } } }, ""],
    ["has succeeded", { name: "app", state: { terminated: { exitCode: 0 } } }, ""],
  ])("names a container that %s", async (_what, status, text) => {
    const { target } = cluster([pod("web-1", { phase: "Running", initContainerStatuses: [status] })], []);
    expect(await whyNotReady([unhealthy(deployment("web"))], target, signal)).toEqual(
      text === "" ? [] : [`Deployment/t/web: ${text}`],
    );
  });

  test("names an init container before others, and ignores a terminating Pod", async () => {
    const failing = (name: string) => ({ name, state: { terminated: { exitCode: 1 } } });
    const both = { containerStatuses: [failing("app")], initContainerStatuses: [failing("migrate")] };
    const { metadata, ...going } = pod("web-0", { phase: "Running", containerStatuses: [failing("former")] });
    const terminating = { ...going, metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    const { target } = cluster([terminating, pod("web-1", { phase: "Pending", ...both })], []);
    expect(await whyNotReady([unhealthy(deployment("web"))], target, signal)).toEqual([
      "Deployment/t/web: container migrate of Pod/t/web-1 ended with exit code 1",
    ]);
  });

  test("is the event of a Pod without a failing container, if it is not running", async () => {
    const events = [
      event("web-0", "Unhealthy", "a while ago", "2026-01-01T00:00:09Z"),
      event("web-1", "FailedScheduling", "no node", "2026-01-01T00:00:01Z"),
    ];
    const { target } = cluster([pod("web-0", { phase: "Running" }), pod("web-1", { phase: "Pending" })], events);
    expect(await whyNotReady([unhealthy(deployment("web"))], target, signal)).toEqual([
      "Deployment/t/web: Warning FailedScheduling: no node",
    ]);
  });

  test.each<[string, JsonObject]>([
    ["lastTimestamp", { lastTimestamp: "2026-01-01T00:00:09Z" }],
    ["the last of its series", { series: { lastObservedTime: "2026-01-01T00:00:09.000000Z" } }],
    ["eventTime", { eventTime: "2026-01-01T00:00:09.000000Z" }],
  ])("uses the newest event by %s", async (_field, times) => {
    const { lastTimestamp: _, ...timeless } = event("web", "Newest", "last", "");
    const older = ["01", "05"].map((second) => event("web", "Older", "before", `2026-01-01T00:00:${second}Z`));
    const [first, last] = older;
    if (first === undefined || last === undefined) throw new Error("two events are older");
    const { target } = cluster([], [first, { ...timeless, ...times }, last]);
    expect(await whyNotReady([unhealthy(deployment("web"))], target, signal)).toEqual([
      "Deployment/t/web: Warning Newest: last",
    ]);
  });

  test("is shorter without rights, and empty if nothing is known", async () => {
    const events = [event("web", "Failed", "image not found", "2026-01-01T00:00:00Z")];
    const web = [unhealthy(deployment("web"), "Available: 0/1")];
    expect(await whyNotReady(web, cluster([pulling], events, ["Pod"]).target, signal)).toEqual([
      "Deployment/t/web: Available: 0/1; Warning Failed: image not found",
    ]);
    expect(await whyNotReady(web, cluster([pulling], events, ["Pod", "Event"]).target, signal)).toEqual([
      "Deployment/t/web: Available: 0/1",
    ]);
    const missing = { ref: refOf(deployment("gone")), status: "NotFound" as const };
    expect(await whyNotReady([missing], cluster([], []).target, signal)).toEqual([]);
  });

  test("is given for the first objects only, with few requests and short texts", async () => {
    const { target, asked } = cluster([pulling], []);
    const many = Array.from({ length: maxExplained + 2 }, (_, at) =>
      unhealthy(deployment(`d${at}`), "x".repeat(maxQuotedBytes + 1)),
    );
    const lines = await whyNotReady(many, target, signal);
    expect(lines).toHaveLength(maxExplained);
    expect(lines[0]).toContain(`Deployment/t/d0: ${"x".repeat(maxQuotedBytes - 3)}...; container`);
    expect(asked).toHaveLength(3 * maxExplained);
    expect(asked.slice(0, 1)).toEqual(["Pod app=d0"]);
  });
});
