import { vi } from "vitest";
import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import { type LiveObject, refOf } from "../../../lib/core/manifest.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { withinDeadline } from "../../deadline.ts";
import type { Action, Left, Recording, Step, Told } from "./recording.ts";
import { CanaryEvent, shownCanary, shownObject, type Words } from "./shown.ts";
import type { Stubs } from "./stubs.ts";

const recordedStubs = "http://127.0.0.1:19600";
/** The least that Flagger waits from step to step. */
const tickMs = 10_000;

/** Kinds of which a recording shows all that are in its namespace. */
const listed = [
  { group: "", version: "v1", kind: "ConfigMap" },
  { group: "", version: "v1", kind: "Secret" },
  { group: "", version: "v1", kind: "Service" },
  { group: "apps", version: "v1", kind: "Deployment" },
  { group: "gateway.networking.k8s.io", version: "v1", kind: "HTTPRoute" },
];
const canaries = { group: "flagger.app", version: "v1beta1", kind: "Canary" };

/** Where a scenario is played. */
export interface Stage {
  readonly cluster: Cluster;
  readonly stubs: Stubs;
  /** How many runs of objects of this namespace have begun. */
  readonly runs: (namespace: string) => number;
  /** Whether no run of an object of this namespace is under way or asked for. */
  readonly isAtRest: (namespace: string) => boolean;
  /** Lets so many milliseconds pass at once, and has Sluice look at what is due. */
  readonly pass: (ms: number) => Promise<void>;
}

export interface Played {
  readonly step: string;
  readonly left: Left;
}

/** One playing of a recorded scenario on a Sluice. */
export class Scene {
  readonly #recording: Recording;
  readonly #stage: Stage;
  readonly #signal: AbortSignal;
  readonly #words: Words & { readonly owners: Set<string> } = { owners: new Set(), flaggerIds: new Map() };
  /** Of each Event by its name, how often it was told at the step before. */
  #told = new Map<string, number>();

  constructor(recording: Recording, stage: Stage, signal: AbortSignal) {
    this.#recording = recording;
    this.#stage = stage;
    this.#signal = signal;
  }

  /** Plays all steps. After each one, the cluster has to hold what it held with Flagger: `compare` throws if it does not. */
  async play(compare: (played: Played, recorded: Played) => void): Promise<readonly string[]> {
    const { name, steps } = this.#recording;
    const manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
    await this.#stage.cluster.create(manifest, { manager: "bench" }, this.#signal);
    const played: string[] = [];
    for (const [index, step] of steps.entries()) {
      for (const action of step.do) await this.#act(action);
      await (index === 0 ? this.#firstRun() : this.#tick());
      compare({ step: step.step, left: await this.#left() }, { step: step.step, left: this.#asPlayed(step) });
      played.push(step.step);
    }
    await this.#leave();
    return played;
  }

  async #act(action: Action): Promise<void> {
    const { cluster, stubs } = this.#stage;
    const { name: namespace } = this.#recording;
    if ("stub" in action) {
      const { stub } = action;
      if ("hook" in stub) stubs.answerHook(namespace, stub.hook, stub.answer);
      else stubs.answerQueries(namespace, stub.prometheus);
      return;
    }
    if ("apply" in action) {
      const manifest = this.#ours(action.apply);
      await cluster.apply(manifest, { manager: "bench", force: true }, this.#signal);
      return;
    }
    if ("delete" in action) {
      await cluster.delete(refOf(action.delete), { propagation: "Background" }, this.#signal);
      return;
    }
    const [kind = "", name = ""] = action.patch.split("/");
    const resource = [...listed, canaries].find((one) => one.kind === kind);
    if (resource === undefined) throw new Error(`a patch of an unknown kind: ${action.patch}`);
    const body = this.#ours(action.body);
    await cluster.patch({ ...resource, namespace, name }, { type: "merge", body }, { manager: "bench" }, this.#signal);
  }

  /** With the address of our stubs. */
  #ours<Given extends object>(given: Given): Given {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- texts in it are replaced by texts
    return JSON.parse(JSON.stringify(given).replaceAll(recordedStubs, this.#stage.stubs.url)) as Given;
  }

  /** What Sluice writes as soon as it sees a Canary, before any time has passed. */
  async #firstRun(): Promise<void> {
    await this.#atRest(1);
  }

  /** One interval, after the workloads have become what the last step wants of them. */
  async #tick(): Promise<void> {
    const { name: namespace } = this.#recording;
    await vi.waitFor(() => this.#checkRolledOut(), withinDeadline);
    const before = this.#stage.runs(namespace);
    await this.#stage.pass(tickMs);
    await this.#atRest(before + 1);
  }

  async #atRest(runs: number): Promise<void> {
    const { name: namespace } = this.#recording;
    const { isAtRest, runs: runsOf } = this.#stage;
    await vi.waitFor(() => {
      if (runsOf(namespace) < runs) throw new Error(`${namespace}: no run has begun`);
      if (!isAtRest(namespace)) throw new Error(`${namespace}: a run is under way`);
    }, withinDeadline);
  }

  async #checkRolledOut(): Promise<void> {
    const { name: namespace } = this.#recording;
    if (!this.#stage.isAtRest(namespace)) throw new Error(`${namespace}: a run is under way`);
    const query = { group: "apps", version: "v1", kind: "Deployment", namespace };
    const states = (await this.#stage.cluster.list(query, this.#signal)).map(rolloutOf);
    const undone = states.filter(({ isDone }) => !isDone);
    if (undone.length > 0) throw new Error(`not rolled out: ${JSON.stringify(undone)}`);
  }

  async #left(): Promise<Left> {
    const { cluster, stubs } = this.#stage;
    const { name: namespace } = this.#recording;
    const live = await cluster.list({ ...canaries, namespace }, this.#signal);
    for (const { metadata } of live) this.#words.owners.add(metadata.uid);
    const lists = await Promise.all(listed.map((kind) => cluster.list({ ...kind, namespace }, this.#signal)));
    const objects = lists.flat().filter(({ metadata: { name } }) => name !== "kube-root-ca.crt");
    const left = {
      canaries: live.map(shownCanary),
      objects: Object.fromEntries(
        objects.map((one) => [`${one.kind}/${one.metadata.name}`, shownObject(one, this.#words)]),
      ),
      events: await this.#newEvents(),
      requests: stubs.take(namespace),
    };
    return left;
  }

  /** The recorded step with the address of our stubs. */
  #asPlayed({ left }: Step): Left {
    return this.#ours(left);
  }

  /** Those told since the last call, also those that were counted up; in the order in which they were last written. */
  async #newEvents(): Promise<readonly Told[]> {
    const query = { group: "", version: "v1", kind: "Event", namespace: this.#recording.name };
    const all = (await this.#stage.cluster.list(query, this.#signal))
      .filter(isOfCanary)
      .map((one) => CanaryEvent.parse(one));
    const told = this.#told;
    this.#told = new Map(all.map(({ metadata, count }) => [metadata.name, count]));
    return all
      .filter(({ metadata, count }) => count > (told.get(metadata.name) ?? 0))
      .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
      .map(({ type, message }) => ({ type, message }));
  }

  /** The next scenario has the time for itself. */
  async #leave(): Promise<void> {
    const { cluster, isAtRest } = this.#stage;
    const { name: namespace } = this.#recording;
    for (const live of await cluster.list({ ...canaries, namespace }, this.#signal)) {
      await cluster.delete(refOf(live), { propagation: "Background" }, this.#signal);
    }
    await vi.waitFor(() => {
      if (!isAtRest(namespace)) throw new Error(`${namespace}: a run is under way`);
    }, withinDeadline);
  }
}

function isOfCanary({ involvedObject }: LiveObject): boolean {
  return isJsonObject(involvedObject) && involvedObject["kind"] === "Canary";
}

const Rollout = z.object({
  metadata: z.object({ name: z.string(), generation: z.int().default(0) }),
  spec: z.object({ replicas: z.int().default(1) }),
  status: z
    .object({
      observedGeneration: z.int().default(0),
      replicas: z.int().default(0),
      updatedReplicas: z.int().default(0),
      availableReplicas: z.int().default(0),
    })
    .prefault({}),
});

function rolloutOf(live: LiveObject): { readonly name: string; readonly isDone: boolean; readonly status: JsonObject } {
  const { metadata, spec, status } = Rollout.parse(live);
  const { replicas, updatedReplicas, availableReplicas } = status;
  const isDone =
    status.observedGeneration === metadata.generation &&
    [replicas, updatedReplicas, availableReplicas].every((count) => count === spec.replicas);
  return { name: metadata.name, isDone, status };
}
