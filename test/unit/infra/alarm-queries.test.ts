import { expect, test } from "vitest";
import { admissionHandler, hintBurst } from "../../../functions/admission.ts";
import { limitsOf } from "../../../functions/cluster-limits.ts";
import { ecrHosts } from "../../../functions/ingest/ecr.ts";
import { ingestBatchHandler, ingestHandler } from "../../../functions/ingest.ts";
import { notifyHandler } from "../../../functions/notify.ts";
import { reconcileHandler } from "../../../functions/reconcile.ts";
import { sweepHandler } from "../../../functions/sweep.ts";
import { clusterSweep } from "../../../functions/sweep-cluster.ts";
import { type AlarmQuery, alarmQueries, type QueryName, queryUrl } from "../../../infra/lib/alarm-queries.ts";
import { admissionPath } from "../../../lib/admission/admission-path.ts";
import { AwsFault } from "../../../lib/aws/aws-fault.ts";
import { callAws } from "../../../lib/aws/call-aws.ts";
import { embeddedMetrics } from "../../../lib/aws/embedded-metrics.ts";
import { ApiError, type PartialObject } from "../../../lib/core/ports/cluster.ts";
import { GateClosed } from "../../../lib/core/ports/write-gate.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { notificationBody } from "../../../lib/notify/notification-message.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { writeLog } from "../../../lib/process/write-log.ts";
import { toldMissedSweeps } from "../../../lib/queue/cluster-limits.ts";
import { rules } from "../../../lib/queue/rules.ts";
import { runPlaces } from "../../../lib/queue/run-places.ts";
import { notRunSweeps } from "../../../lib/queue/timing.ts";
import { refusalLog } from "../../../lib/receiver/refusal-log.ts";
import { sqliteClusterStates } from "../../../local/state/cluster-states.ts";
import { queuedWakeUps, sqliteDeadLetters, sqliteMessageQueue } from "../../../local/state/message-queue.ts";
import { sqliteObservedResources } from "../../../local/state/observed-resources.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { memorySweepLeases } from "../../../local/state/sweep-leases.ts";
import { sqliteWorkItems } from "../../../local/state/work-items.ts";
import { keyOf, never, workItem } from "../../contract/state-back-end.ts";
import { openGate } from "../../doubles/open-gate.ts";
import { openLimits } from "../../doubles/open-limits.ts";
import { readLogLine, runQuery } from "./logs-insights.ts";

const kind = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" };
const away = () => Promise.reject(new Error("the table is away"));

/** The parts of an installation whose log and metrics are lines, as in Lambda. */
function writing() {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = writeLog(write, "info");
  const metrics = embeddedMetrics(write, systemClock, "table");
  const database = openStateDatabase(":memory:");
  const items = sqliteWorkItems(database);
  const observed = sqliteObservedResources(database);
  const clusterStates = sqliteClusterStates(database);
  const queue = { items, wakeUps: queuedWakeUps(sqliteMessageQueue(database, systemClock)), log, rules };
  const limits = () =>
    limitsOf({
      ...{ clusterStates, log, metrics, clock: systemClock },
      clusters: { get: () => undefined },
      maxRuns: () => 20,
    });
  return { lines, log, metrics, database, items, observed, queue, limits };
}
type World = ReturnType<typeof writing>;

/** The sweep of the cluster `home`, whose lists answer this. */
function sweepCluster(
  { log, metrics, observed, limits }: World,
  listMetadata: () => Promise<readonly PartialObject[]>,
) {
  return clusterSweep({
    ...{ log, metrics, observed, clock: systemClock, kinds: [kind], limits: limits() },
    clusters: { get: () => ({ gate: openGate, home: { listMetadata } }) },
    requests: { request: async () => undefined },
    subscriptions: { subscribers: async () => [] },
    sweepLeases: memorySweepLeases(systemClock),
  });
}

function reconcile({ log, metrics, queue, database }: World, gate = openGate) {
  return reconcileHandler({
    ...{ ...queue, log, metrics, clock: systemClock, runPlaces: runPlaces(systemClock), limits: openLimits },
    ...{ newHolder: () => "h", inputOf: async () => "i", onParked: async () => undefined },
    ...{ extendVisibility: async () => undefined, sweepCluster: away, lookAtObject: away },
    deadLetters: sqliteDeadLetters(database, systemClock),
    clusters: { get: () => ({ gate }) },
    flowOf: () => () => Promise.reject(new Error("a bug")),
  });
}

const message = (body: object) => ({
  Records: [{ messageId: "m", receiptHandle: "r", body: JSON.stringify(body) }],
});
const wakeUp = message({ key: "home/kustomize.toolkit.fluxcd.io/Kustomization/apps/web" });
const ingestDeps = ({ log, metrics, observed }: World) => ({
  ...{ log, metrics, observed, subscriptions: { followers: away }, requests: { hint: away } },
  ...{ registryHosts: ecrHosts, isAdmitted: () => true },
});

/** What makes the code write the lines that each query looks for. */
const happens: Readonly<Record<QueryName, (world: World) => Promise<unknown>>> = {
  ObjectNotReady: async (world) => {
    await world.observed.markNotReady(keyOf("web"), { since: 0, outcome: "stalled" }, never);
    const metadata = { name: "web", namespace: "apps", uid: "u", generation: 1 };
    await sweepCluster(world, async () => [{ apiVersion: "v1", kind: "Kustomization", metadata }])("home", never);
  },
  ClusterUnreachable: async (world) => {
    const noAnswer = () => Promise.reject(new ApiError({ code: 0, reason: "Unreachable", message: "no route" }));
    const sweep = sweepCluster(world, noAnswer);
    for (let minute = 0; minute < toldMissedSweeps; minute += 1) await sweep("home", never);
  },
  ReconcileNotRun: async (world) => {
    let passedMs = 0;
    const key = { ...keyOf("web"), group: kind.group };
    await world.items.put(workItem(key, { started: 1, dueAt: 1 }), never);
    const sweep = sweepHandler({
      ...{ ...world.queue, metrics: world.metrics, kinds: [kind], limits: world.limits() },
      clock: { ...systemClock, now: () => systemClock.now() + passedMs },
      clusters: () => ["home"],
      sweepRequests: { send: async () => undefined },
    });
    for (let minute = 0; minute <= notRunSweeps; minute += 1, passedMs += 61_000) await sweep({}, never);
  },
  OtherOwner: async (world) => {
    await world.items.put(workItem(keyOf("web")), never);
    const enter = () => Promise.reject(new GateClosed("the cluster belongs to another installation"));
    await reconcile(world, { ...openGate, enter })(wakeUp, never);
  },
  WakeUpDeadLetters: (world) => reconcile(world)(message({ neither: "this nor that" }), never),
  ReconcileErrors: async (world) => {
    await world.items.put(workItem(keyOf("web")), never);
    await reconcile(world)(wakeUp, never);
    world.lines.push("2026-11-28T19:00:00Z 1a2b Task timed out after 900.00 seconds\n");
  },
  SweepErrors: async ({ lines, log }) => {
    log.error("sweep failed", { error: "the table is away" });
    lines.push("RequestId: 1a2b Error: Runtime exited with error: signal: killed\n");
  },
  AdmissionErrors: async ({ lines }) => lines.push("2026-11-28T19:00:00Z 1a2b Task timed out after 5.00 seconds\n"),
  CollectErrors: async ({ lines }) => lines.push("2026-11-28T19:00:00Z 1a2b Task timed out after 900.00 seconds\n"),
  NotificationsNotHandled: ({ log }) => {
    const event = {
      involvedObject: { kind: "Kustomization", namespace: "apps", name: "web" },
      ...{ severity: "error", timestamp: "2026-11-28T19:00:00Z", message: "failed", reason: "BuildFailed" },
      reportingController: "kustomize-controller",
    };
    const alert = { namespace: "apps", name: "on-call" };
    const provider = { namespace: "apps", name: "slack" };
    const handle = notifyHandler({
      ...{ log, clock: systemClock, hide: async () => undefined },
      deliver: () => Promise.reject(new Error("the cluster did not answer")),
    });
    const attributes = { MessageGroupId: "g", ApproximateReceiveCount: "1" };
    const body = notificationBody({ cluster: "home", alert, provider, eventKey: "k", event });
    return handle({ Records: [{ messageId: "m", receiptHandle: "r", body, attributes }] }, never);
  },
  HintDeadLetters: async (world) => {
    const event = {
      source: "aws.ecr",
      "detail-type": "ECR Image Action",
      account: "1".repeat(12),
      region: "eu-west-1",
    };
    const detail = { result: "SUCCESS", "repository-name": "a", "image-digest": `sha256:${"0".repeat(64)}` };
    const pushed = { ...detail, "action-type": "PUSH", "image-tag": "v1" };
    await ingestBatchHandler(ingestDeps(world))(message({ ...event, detail: pushed }), never);
  },
  EventsRefused: async (world) => {
    await ingestHandler(ingestDeps(world))({ source: "somebody" }, never);
    const refused = refusalLog({ log: world.log, metrics: world.metrics, clock: systemClock });
    refused(keyOf("hook"), { status: 400, why: "no signature", isMeant: true });
  },
  // These two as lib/flows/source/report.ts and lib/flows/kustomization/apply.ts record them.
  EventsMissed: async ({ metrics }) => metrics.record(keyOf("web"), { EventsMissed: 1 }, { revision: "v1" }),
  PushToApplied: async ({ metrics }) => metrics.record(keyOf("web"), { PushToApplied: 150_000 }, { revision: "v1" }),
  ReceiverAnswers5xx: async ({ log, metrics }) => {
    refusalLog({ log, metrics, clock: systemClock })(keyOf("hook"), { status: 503, why: "suspended", isMeant: true });
    // As lib/receiver/handle-delivery.ts writes it.
    log.error("webhook not handled", { receiver: "c/g/Receiver/n/hook", error: "no answer in time" });
  },
  HintsDropped: async ({ log, metrics }) => {
    const secret = new Secret("0123456789abcdef".repeat(4));
    const handle = admissionHandler({
      ...{ secret, log, metrics, kinds: [kind], clock: { ...systemClock, monotonic: () => 0 } },
      looks: { send: async () => undefined },
    });
    const object = { metadata: { name: "web", uid: "u", resourceVersion: "7", generation: 2 } };
    const asked = { uid: "r", kind, namespace: "apps", name: "web", operation: "UPDATE", object, oldObject: object };
    const body = JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: asked });
    const call = { method: "POST", path: admissionPath(secret, "home"), body: Buffer.from(body) };
    for (let hints = 0; hints <= hintBurst; hints += 1) await handle(call, never);
  },
  TableThrottles: async (world) => {
    const throttled = Object.assign(new Error("slow down"), { name: "ThrottlingException", $metadata: {} });
    const action = { name: "dynamodb:Query", resource: "table sluice", region: "eu-west-1" };
    const fault = await callAws(action, () => Promise.reject(throttled), never).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(AwsFault);
    const items = { ...world.items, get: () => Promise.reject(fault) };
    await reconcile({ ...world, queue: { ...world.queue, items } })(wakeUp, AbortSignal.timeout(50));
  },
};

const queries: readonly (readonly [string, AlarmQuery])[] = Object.entries(alarmQueries);

test.each(Object.entries(happens))(
  "the query %s finds the log lines that the code writes, with every field that it shows",
  async (name, happen) => {
    const world = writing();
    await happen(world);
    world.database.close();
    const [, query] = queries.find(([each]) => each === name) ?? [];
    const { lines, fields } = runQuery(
      query?.lines ?? [],
      world.lines.map((line) => readLogLine(line.trim())),
    );
    expect(lines.length).toBeGreaterThan(0);
    const shown = new Set(lines.flatMap((line) => [...line.keys()]));
    // Each is of one of several kinds of lines.
    const optional = name.endsWith("Errors") ? /^(key\.|message|error)/ : /^row$/;
    expect(fields.filter((field) => !shown.has(field) && !optional.test(field))).toEqual([]);
  },
);

test("the address of a query has the console's format, and leaves out log groups if there are many", () => {
  const query: AlarmQuery = { logs: ["sweep"], lines: ['filter name = "it\'s"', "limit 5"] };
  const place = { region: "eu-west-1", domain: "console.aws.amazon.com" };
  const start =
    "https://eu-west-1.console.aws.amazon.com/cloudwatch/home?region=eu-west-1#logsV2:logs-insights$3FqueryDetail$3D" +
    "~(end~0~start~-3600~timeType~'RELATIVE~unit~'seconds~editorString~'filter*20name*20*3D*20*22it*27s*22*0A*7C*20limit*205";
  expect(queryUrl(query, ["one", "two"], place)).toBe(`${start}~source~(~'one~'two))`);
  expect(queryUrl(query, ["one", "two", "three"], place)).toBe(`${start})`);
});
