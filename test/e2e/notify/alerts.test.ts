import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { requestedAtAnnotation } from "../../../lib/api/names.ts";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import { providers } from "../../../lib/notify/providers/providers.ts";
import { deadlineMs } from "../../deadline.ts";
import { type S3Server, s3Server } from "../../doubles/s3-server.ts";
import { type CliWorld, cliWorld } from "../cli-world.ts";
import { type EventServer, eventServer, forwarding } from "./event-server.ts";

const never = new AbortController().signal;
const namespace = "default";

let server: EventServer;
let world: CliWorld;
let s3: S3Server;
beforeAll(async () => {
  server = await eventServer();
  s3 = await s3Server();
  s3.accessKeyId = "AKIA";
  world = await cliWorld({ providers: { ...providers, slack: forwarding("other") } });
});
afterAll(async () => {
  await world.close();
  await s3[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const at = (path: string) => server.at(path);

async function apply(apiVersion: string, kind: string, name: string, fields: JsonObject): Promise<void> {
  const manifest = { apiVersion, kind, metadata: { name, namespace }, ...fields };
  await world.cluster.apply(manifest, { manager: "test", force: true }, never);
}

const notification = "notification.toolkit.fluxcd.io/v1beta3";

/** An Alert for all that happens, and its Provider. */
async function follow(name: string, provider: JsonObject, alert: JsonObject = {}): Promise<void> {
  const sources = ["Bucket", "Kustomization"].map((kind) => ({ kind, name: "*" }));
  await apply(notification, "Provider", name, { spec: { type: "generic", ...provider } });
  const spec = { providerRef: { name }, eventSources: sources, ...alert };
  await apply(notification, "Alert", name, { spec });
}

/** What the bucket holds from now on. */
function hold(text: string): void {
  s3.buckets.set("paints", new Map([["deploy/paint.yaml", Buffer.from(text)]]));
}

function paint(colour: string): string {
  const metadata = { name: "paint", namespace };
  return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { colour } });
}

let requests = 0;
async function reconcile(apiVersion: string, kind: string, name: string): Promise<void> {
  const [group = "", version = ""] = apiVersion.split("/");
  const body = { metadata: { annotations: { [requestedAtAnnotation]: `request ${(requests += 1)}` } } };
  const ref = { group, version, kind, namespace, name };
  await world.cluster.patch(ref, { type: "merge", body }, { manager: "test" }, never);
}
const pull = () => reconcile("source.toolkit.fluxcd.io/v1", "Bucket", "paints");
const run = () => reconcile("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "paint");

/** `severity reason` of what has arrived at a path, in order. */
function reasons(path: string): readonly string[] {
  return server.arrived
    .filter((one) => one.path === path)
    .map(({ event }) => [event["severity"], event["reason"]].filter((word) => typeof word === "string").join(" "));
}

/** `reason message` of the Events of an object. */
async function recorded(kind: string, name: string): Promise<readonly string[]> {
  const events = await world.cluster.list({ group: "", version: "v1", kind: "Event", namespace }, never);
  return events.flatMap((event) => {
    const object = event["involvedObject"];
    if (!isJsonObject(object) || object["kind"] !== kind || object["name"] !== name) return [];
    return [[event["reason"], event["message"]].filter((word) => typeof word === "string").join(" ")];
  });
}

test("an Alert sends the events of a Kustomization, from its source to its failure, once each", async () => {
  await follow("all", { address: at("/all") }, { eventMetadata: { env: "test" } });
  await follow("chat", { type: "slack", address: at("/chat") });
  await follow("errors", { address: at("/errors") }, { eventSeverity: "error" });
  await follow("quiet", { address: at("/quiet") }, { suspend: true });
  await follow("closed", { address: at("/closed"), suspend: true });
  await follow("refused", { address: at("/refuses") }, { eventSeverity: "error" });
  await apply(notification, "Alert", "nowhere", {
    spec: { providerRef: { name: "none" }, eventSources: [{ kind: "Kustomization", name: "paint" }] },
  });

  hold(paint("red"));
  const keys = { accesskey: "AKIA", secretkey: "hunter2" };
  await apply("v1", "Secret", "keys", { stringData: keys });
  const bucket = { interval: "1h", provider: "generic", bucketName: "paints", endpoint: s3.endpoint, insecure: true };
  await apply("source.toolkit.fluxcd.io/v1", "Bucket", "paints", { spec: { ...bucket, secretRef: { name: "keys" } } });
  const sourceRef = { kind: "Bucket", name: "paints" };
  const kustomization = { interval: "1h", prune: true, path: "./deploy", sourceRef };
  await apply("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "paint", { spec: kustomization });
  const first = ["info NewArtifact", "info Progressing", "info ReconciliationSucceeded"];
  await expect.poll(() => reasons("/all")).toEqual(expect.arrayContaining(first));

  // 47: a heartbeat goes to generic Providers only, with what tells it from other events.
  const finished = server.arrived.find(
    ({ path, event }) => path === "/all" && event["reason"] === "ReconciliationSucceeded",
  );
  expect(finished?.event).toMatchObject({
    involvedObject: { kind: "Kustomization", namespace, name: "paint", apiVersion: "kustomize.toolkit.fluxcd.io/v1" },
    metadata: { commit_status: "update", env: "test", revision: expect.stringMatching(/^sha256:/) },
    reportingController: "kustomize-controller",
  });
  const messages = () => server.arrived.filter(({ path }) => path === "/chat").map(({ event }) => event["message"]);
  await expect.poll(messages).toContain("ConfigMap/default/paint created");

  // 51: what is missing is told on the Alert.
  await expect
    .poll(() => recorded("Alert", "nowhere"))
    .toContain(
      'NotificationDispatchFailed failed to dispatch notification for Kustomization/default/paint: failed to read provider: Provider.notification.toolkit.fluxcd.io "none" not found',
    );

  // 36: the same failure is sent once, however often it is met.
  hold("kind: [");
  await pull();
  await expect.poll(() => reasons("/errors")).toEqual(["error BuildFailed"]);
  const failures = async () =>
    (await recorded("Kustomization", "paint")).filter((one) => one.startsWith("BuildFailed"));
  const before = (await failures()).length;
  await run();
  await expect.poll(async () => (await failures()).length).toBeGreaterThan(before);
  await expect
    .poll(() => recorded("Alert", "refused"))
    .toEqual([
      "NotificationDispatchFailed failed to send notification for Kustomization/default/paint: postMessage failed: request failed: request failed with status code 403: ",
    ]);

  hold(paint("blue"));
  await pull();
  await expect.poll(() => reasons("/all").filter((one) => one === "info Progressing")).toHaveLength(2);
  await expect.poll(messages).toContain("ConfigMap/default/paint configured");
  expect(reasons("/errors")).toEqual(["error BuildFailed"]);
  expect(reasons("/chat")).toContain("error BuildFailed");
  expect(reasons("/chat")).not.toContain("info ReconciliationSucceeded");
  expect([reasons("/quiet"), reasons("/closed")]).toEqual([[], []]);
  expect([await recorded("Alert", "quiet"), await recorded("Alert", "all")]).toEqual([[], []]);

  // 50: what happens once a suspended Alert is resumed reaches its Provider.
  await follow("quiet", { address: at("/quiet") }, { suspend: false });
  const changed = async (): Promise<readonly string[]> => {
    hold(paint(`green ${(requests += 1)}`));
    await pull();
    return reasons("/quiet");
  };
  await expect.poll(changed).toContain("info Progressing");
});

test("the page of sluice local shows what Alerts send and the result, even without a Provider", async () => {
  // What was told last may still be on its way.
  const isShown = async (): Promise<void> => {
    const page = await (await fetch(`${world.receiver}/notifications`)).text();
    const entries = page.split("\n\n");
    const entryOf = (alert: string, outcome: string) =>
      entries.find((entry) => entry.includes(`Alert default/${alert}, `) && entry.includes(`: ${outcome}`));
    expect(entryOf("all", "sent")).toContain("Kustomization/default/paint");
    expect(entryOf("nowhere", "failed to dispatch notification for Kustomization/default/paint")).toContain(
      'Provider.notification.toolkit.fluxcd.io "none" not found',
    );
    expect(entryOf("refused", "failed to send notification")).toContain("request failed with status code 403");
    expect(entryOf("closed", "not sent: the Provider is suspended")).toBeDefined();
    expect(entryOf("chat", "not sent: a Provider of type slack takes no such event")).toContain(
      "ReconciliationSucceeded",
    );
    expect(entryOf("quiet", "")).toContain("Kustomization/default/paint");
  };
  await vi.waitFor(isShown, { timeout: deadlineMs, interval: 50 });
});
