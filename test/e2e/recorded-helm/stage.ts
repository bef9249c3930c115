import { expect, vi } from "vitest";
import { z } from "zod";
import { digestOf } from "../../../lib/core/digest.ts";
import { isJsonObject, toJsonObject } from "../../../lib/core/json.ts";
import { type LiveObject, type Manifest, refOf } from "../../../lib/core/manifest.ts";
import { parseApiVersion } from "../../../lib/core/object-ref.ts";
import type { Clock } from "../../../lib/core/ports/clock.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { registryClients } from "../../../lib/sources/oci/registry-client.ts";
import { deadlineMs } from "../../deadline.ts";

import { packed } from "../../unit/sources/helm/charts.ts";
import type { OwnStage } from "../recorded-flux/own-sluice.ts";
import { comparable } from "./comparable.ts";
import { type Action, Left, type Recording } from "./recording.ts";
import { shownEvent, shownManaged, shownObject, shownRelease } from "./shown.ts";

const recordedRegistry = "127.0.0.1:27000";
const recordedCharts = "127.0.0.1:27002";
const helmGroup = "helm.toolkit.fluxcd.io";
const chartLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
/** In place of the recordings' timeouts of 6 and 30 seconds, of which none runs out but by {@link TimeThatPasses}. */
const timeout = "10m";

/** The machine's clock, with time that passes at once. */
export interface TimeThatPasses {
  readonly clock: Clock;
  pass(ms: number): void;
}

export function timeThatPasses(): TimeThatPasses {
  let passedMs = 0;
  return {
    // The queue of this machine measures delays by monotonic time.
    clock: {
      ...systemClock,
      now: () => systemClock.now() + passedMs,
      monotonic: () => systemClock.monotonic() + passedMs,
    },
    pass: (ms) => {
      passedMs += ms;
    },
  };
}

/** One playing of a recorded scenario on a Sluice. */
export class Scene {
  readonly recording: Recording;
  readonly #stage: OwnStage;
  readonly #time: TimeThatPasses | undefined;
  readonly #signal: AbortSignal;
  /** What we published to what the recording calls it. */
  readonly #recorded = new Map<string, string>();
  /** Names of the events that were there at the step before. */
  #told = new Set<string>();
  #nudges = 0;

  constructor(recording: Recording, stage: OwnStage, time: TimeThatPasses | undefined, signal: AbortSignal) {
    this.recording = recording;
    this.#stage = stage;
    this.#time = time;
    this.#signal = signal;
  }

  /** Plays all steps. After each one, the cluster has to hold what it held with Flux. */
  async play(): Promise<readonly string[]> {
    const { namespace, steps } = this.recording;
    const manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
    await this.#stage.cluster.create(manifest, { manager: "bench" }, this.#signal);
    const played: string[] = [];
    for (const { step, do: actions, flux } of steps) {
      for (const action of actions) await this.#act(action);
      const wanted = comparable(flux);
      const isAsRecorded = async () => {
        if (this.#time !== undefined) await this.#nudge();
        // Before the look: what is over then is over in what is shown.
        if (!this.#stage.isAtRest(namespace)) throw new Error(`${this.recording.name}/${step}: a run is under way`);
        expect({ step, left: comparable(await this.#left(flux)) }).toEqual({ step, left: wanted });
      };
      await vi.waitFor(isAsRecorded, { timeout: deadlineMs, interval: 250 });
      this.#told = new Set((await this.#events()).map(({ metadata }) => metadata.name));
      played.push(step);
    }
    return played;
  }

  async #act(action: Action): Promise<void> {
    const { cluster } = this.#stage;
    if (action === "settle") return this.#settle();
    if ("publish" in action) return this.#publish(action.publish);
    if ("pass" in action) {
      if (this.#time === undefined) throw new Error("no time that passes");
      this.#time.pass(action.pass);
      return;
    }
    if ("apply" in action) {
      await cluster.apply(this.#ours(action.apply), { manager: "bench", force: true }, this.#signal);
      return;
    }
    if ("delete" in action) {
      await cluster.delete(refOf(this.#ours(action.delete)), { propagation: "Background" }, this.#signal);
      return;
    }
    const [ref, manager, body] =
      "request" in action
        ? [
            requested(action.object, this.recording.namespace),
            "flux",
            { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": action.request } } },
          ]
        : [refOf(action.update), action.manager, toJsonObject(action.update)];
    await cluster.patch(ref, { type: "merge", body }, { manager }, this.#signal);
  }

  /** Sluice sleeps until something is due: another hint makes it look at the clock, which may have passed that time. */
  async #nudge(): Promise<void> {
    const name = `${this.recording.name}-nudge-${++this.#nudges}`;
    const manifest = {
      ...{ apiVersion: "source.toolkit.fluxcd.io/v1", kind: "OCIRepository" },
      metadata: { name, namespace: "default" },
      spec: { interval: "1h", url: "oci://nowhere.test/none", suspend: true },
    };
    await this.#stage.cluster.apply(manifest, { manager: "bench", force: true }, this.#signal);
  }

  async #settle(): Promise<void> {
    const { cluster, isAtRest } = this.#stage;
    const { namespace } = this.recording;
    const isSettled = async () => {
      if (!isAtRest(namespace)) throw new Error(`${this.recording.name}: a run is under way`);
      const all = await cluster.list({ group: helmGroup, version: "v2", kind: "HelmRelease", namespace }, this.#signal);
      const unsettled = all.filter((live) => !isSettledRelease(live)).map(({ metadata }) => metadata.name);
      expect(unsettled).toEqual([]);
    };
    await vi.waitFor(isSettled, { timeout: deadlineMs, interval: 100 });
  }

  async #publish(number: string): Promise<void> {
    const [name = "", content] =
      Object.entries(this.recording.source).find(([key]) => key.startsWith(`${number}. `)) ?? [];
    const place = name.slice(`${number}. `.length);
    if (place.startsWith("http://")) return this.#publishRepository(place, content);
    const { http, registry } = this.#stage;
    const [, repository = "", tag = ""] = /^oci:\/\/[^/]+\/(.+):([^:]+)$/.exec(place) ?? [];
    const layer =
      typeof content === "string" ? Buffer.from("none") : await packed(inFolder(filesOf(content), "app/"), "app");
    const config = Buffer.from("{}");
    const blob = (mediaType: string, bytes: Uint8Array) => ({ mediaType, size: bytes.length, digest: digestOf(bytes) });
    const manifest = {
      schemaVersion: 2,
      config: blob("application/vnd.cncf.helm.config.v1+json", config),
      layers: [blob(chartLayer, layer)],
      // So that no two pushes are the same.
      annotations: { "example.test/push": number },
    };
    const client = registryClients(http, systemClock)({ host: registry, insecure: true });
    await client.pushBlob(repository, layer, this.#signal);
    await client.pushBlob(repository, config, this.#signal);
    const mediaType = "application/vnd.oci.image.manifest.v1+json";
    const bytes = Buffer.from(JSON.stringify(manifest));
    const digest = await client.pushManifest(repository, tag, mediaType, bytes, this.#signal);
    const recorded = this.recording.digests[number];
    if (recorded === undefined) return;
    this.#recorded.set(digest, recorded);
    this.#recorded.set(shortDigest(digest), shortDigest(recorded));
  }

  async #publishRepository(place: string, content: unknown): Promise<void> {
    const { helm } = this.#stage;
    if (helm === undefined) throw new Error("no Helm server");
    const folder = new URL(place).pathname;
    const { "index.yaml": index = "", ...archives } = z.record(z.string(), z.unknown()).parse(content);
    await helm.publish(`1. ${folder}: charts`, archivesOf(archives));
    const digests = await helm.publish(`2. ${folder}/index.yaml`, { "index.yaml": String(index) });
    for (const [own, recorded] of digests) this.#recorded.set(own, recorded);
  }

  #ours(manifest: Manifest): Manifest {
    const { git: _git, helm, registry } = this.#stage;
    const text = JSON.stringify(manifest)
      .replaceAll(recordedRegistry, registry)
      .replaceAll(recordedCharts, helm?.address ?? recordedCharts)
      .replaceAll(/"timeout":"(?:6|30)s"/g, `"timeout":"${timeout}"`);
    const { stringData, ...ours } = Written.parse(JSON.parse(text));
    if (stringData === undefined) return ours;
    const data = Object.entries(stringData).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
    return { ...ours, data: Object.fromEntries(data) };
  }

  #asRecorded(value: object): unknown {
    const { helm, registry } = this.#stage;
    const pairs = [...this.#recorded, [registry, recordedRegistry], [helm?.address ?? recordedCharts, recordedCharts]];
    const text = pairs.reduce(
      (left, [own = "", recorded = ""]) => left.replaceAll(own, recorded),
      JSON.stringify(value).replaceAll(registryWords, "$1; unknown tag=$2"),
    );
    return JSON.parse(text.replaceAll("timeout of 10m0s", "timeout of 30s"));
  }

  /** What is there of what the recording shows, and what is there beside it. */
  async #left({ events, managed, objects, releases }: Left): Promise<Left> {
    const shown = {
      objects: await Promise.all(objects.map((one) => this.#object(one))),
      events: asCounted((await this.#newEvents()).map(shownEvent), events),
      releases: await this.#releases(releases),
      managed: await this.#managed(managed),
    };
    return Left.parse(this.#asRecorded(shown));
  }

  async #object({ kind, name, namespace = this.recording.namespace }: Left["objects"][number]) {
    const live = await this.#stage.cluster.get(requested(`${kind}/${name}`, namespace), this.#signal);
    return live === undefined ? { kind, name, gone: true } : shownObject(live);
  }

  async #events(): Promise<readonly LiveObject[]> {
    const { cluster } = this.#stage;
    const query = { group: "", version: "v1", kind: "Event", namespace: this.recording.namespace };
    const all = await cluster.list(query, this.#signal);
    return all
      .filter(({ involvedObject }) => isJsonObject(involvedObject) && involvedObject["kind"] === "HelmRelease")
      .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
  }

  async #newEvents(): Promise<readonly LiveObject[]> {
    return (await this.#events()).filter(({ metadata }) => !this.#told.has(metadata.name));
  }

  /** One that was not written since an earlier step is recorded in short. */
  async #releases(recorded: Left["releases"]): Promise<readonly object[]> {
    const query = { group: "", version: "v1", kind: "Secret", labelSelector: "owner=helm" };
    const all = (await this.#stage.cluster.list(query, this.#signal)).filter((one) => this.#isOfScenario(one));
    return all.map((live) => {
      const shown = shownRelease(live);
      const isShort = recorded.some((one) => one["secret"] === shown.secret && one["release"] === undefined);
      if (!isShort) return shown;
      const { info, version } = shown.release;
      return { secret: shown.secret, status: info.status, description: info.description ?? null, version };
    });
  }

  #isOfScenario({ metadata: { namespace = "" } }: LiveObject): boolean {
    return namespacesOf(this.recording).has(namespace);
  }

  async #managed(recorded: Left["managed"]): Promise<Left["managed"]> {
    const { cluster } = this.#stage;
    const others = recorded.filter(({ kind }) => !listed.some((one) => one.kind === kind));
    const found = await Promise.all(
      others.map(async (one) => {
        const {
          kind,
          name,
          namespace = "",
          apiVersion = "v1",
        } = z.looseObject({ ...placed, apiVersion: z.string().exactOptional() }).parse(one);
        const live = await cluster.get({ ...parseApiVersion(apiVersion), kind, namespace, name }, this.#signal);
        return live === undefined ? (one["gone"] === true ? one : { kind, name, gone: true }) : shownManaged(live);
      }),
    );
    const inputs = new Set(
      this.recording.steps.flatMap((step) =>
        step.do.flatMap((action) =>
          action !== "settle" && "apply" in action ? `${action.apply.kind}/${action.apply.metadata.name}` : [],
        ),
      ),
    );
    const lists = await Promise.all(listed.map((kind) => cluster.list(kind, this.#signal)));
    const own = lists
      .flat()
      .filter((live) => this.#isOfScenario(live) && !inputs.has(`${live.kind}/${live.metadata.name}`))
      .filter(({ metadata: { labels, name } }) => name !== "kube-root-ca.crt" && labels?.["owner"] !== "helm")
      .filter(({ kind, metadata: { name } }) => kind !== "ServiceAccount" || name !== "default");
    return [...found, ...own.map(shownManaged)];
  }
}

/** That of the scenario, and those that releases or their objects are in. */
function namespacesOf({ namespace, steps }: Recording): ReadonlySet<string> {
  const others = steps.flatMap(({ flux: { managed, releases } }) => [
    ...managed.map((one) => (one.kind === "Namespace" ? one.name : (one.namespace ?? ""))),
    ...releases.map(({ secret }) => (typeof secret === "string" ? (secret.split("/")[0] ?? "") : "")),
  ]);
  return new Set([namespace, ...others]);
}

const placed = { kind: z.string(), name: z.string(), namespace: z.string().exactOptional() };
const Written = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().exactOptional() }),
  stringData: z.record(z.string(), z.string()).exactOptional(),
});

/** Kinds of which a recording shows all in the namespaces of the scenario. */
const listed = [
  { group: "", version: "v1", kind: "ConfigMap" },
  { group: "", version: "v1", kind: "Secret" },
  { group: "", version: "v1", kind: "Service" },
  { group: "", version: "v1", kind: "ServiceAccount" },
  { group: "apps", version: "v1", kind: "Deployment" },
  { group: "batch", version: "v1", kind: "Job" },
];

const registryWords = /(MANIFEST_UNKNOWN: manifest unknown); map\[Tag:([^\]]+)\]/g;
const combined = "(combined from similar events): ";

/** Flux's client counts many similar events as one, whose text is that of the last. */
function asCounted(events: readonly ReturnType<typeof shownEvent>[], recorded: Left["events"]) {
  const last = events.at(-1);
  if (last === undefined || !recorded.some(({ message }) => message.startsWith(combined))) return events;
  const { annotations: _annotations, ...event } = last;
  return [{ ...event, message: `${combined}${event.message}` }];
}

function requested(object: string, namespace: string) {
  const [kind = "", name = ""] = object.split("/");
  const place = { kind, namespace, name };
  return kind === "HelmRelease"
    ? { group: helmGroup, version: "v2", ...place }
    : { group: "source.toolkit.fluxcd.io", version: "v1", ...place };
}

function shortDigest(digest: string): string {
  return digest.slice("sha256:".length, "sha256:".length + 12);
}

function filesOf(content: unknown): Readonly<Record<string, string>> {
  return z.record(z.string(), z.string()).parse(content);
}

function inFolder(files: Readonly<Record<string, string>>, folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [path.slice(folder.length), text]));
}

function archivesOf(archives: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(archives).map(([name, files]) => [name, filesOf(files)]));
}

/** Whether a HelmRelease is done with its generation: ready, failed for good, or waiting for what only time or others bring. */
function isSettledRelease({ metadata, spec, status }: LiveObject): boolean {
  const { conditions = [], observedGeneration } = Conditions.parse(status ?? {});
  if (isJsonObject(spec) && spec["suspend"] === true) return observedGeneration === metadata.generation;
  const ready = conditions.find(({ type }) => type === "Ready");
  if (metadata.deletionTimestamp !== undefined) return true;
  return ready !== undefined && ready.status !== "Unknown" && ready.observedGeneration === metadata.generation;
}

const Conditions = z.object({
  observedGeneration: z.number().optional(),
  conditions: z
    .array(z.object({ type: z.string(), status: z.string(), observedGeneration: z.number().optional() }))
    .optional(),
});
