import { isDeepStrictEqual } from "node:util";
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
  /** The kubeconfig file of the cluster. */
  readonly kubeconfig: string;
  readonly stubs: Stubs;
  /** Whether no run of an object of this namespace is under way or asked for. */
  readonly isAtRest: (namespace: string) => boolean;
  /** The time of Sluice, in milliseconds since 1970: ahead of the machine's by what was let pass. */
  readonly now: () => number;
  /** Lets so many milliseconds pass, at once and before it answers anything, and has Sluice take up what is due. */
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
  /** Values of cookies, which are random, in the order in which they were first seen. */
  readonly #cookies = new Set<string>();

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
      const versions = isUnchanged(step, steps[index - 1]) ? await this.#versions() : undefined;
      for (const action of step.do) await this.#act(action);
      await this.#until(step, compare);
      if (versions !== undefined) await this.#checkUnwritten(step, versions);
      played.push(step.step);
    }
    await this.#leave();
    return played;
  }

  /**
   * Sluice takes the step of a Canary at rest when its target changes, and any other one when an interval is over. So an interval passes if
   * nothing else brings the step, and never while a run is under way, which would be followed by another at once.
   */
  async #until(step: Step, compare: (played: Played, recorded: Played) => void): Promise<void> {
    const recorded = { step: step.step, left: this.#ours(step.left) };
    let hasPassed = false;
    if (isSilent(step)) hasPassed = await vi.waitFor(() => this.#passInterval(), withinDeadline);
    const isAsRecorded = async () => {
      this.#checkRest();
      const { left, told } = await this.#left();
      try {
        compare({ step: step.step, left }, recorded);
      } catch (error) {
        if (!hasPassed) hasPassed = await this.#passInterval();
        throw error;
      }
      this.#told = told;
      this.#stage.stubs.forget(this.#recording.name);
    };
    await vi.waitFor(isAsRecorded, { ...withinDeadline, interval: 100 });
  }

  /** Of the objects that only a step writes. */
  async #versions(): Promise<ReadonlyMap<string, unknown>> {
    const { name: namespace } = this.#recording;
    const kinds = [canaries, ...listed.filter(({ kind }) => kind !== "Deployment")];
    const list = (kind: (typeof kinds)[number]) => this.#stage.cluster.list({ ...kind, namespace }, this.#signal);
    const objects = (await Promise.all(kinds.map(list))).flat();
    return new Map(objects.map(({ kind, metadata }) => [`${kind}/${metadata.name}`, metadata.resourceVersion]));
  }

  async #checkUnwritten({ step }: Step, before: ReadonlyMap<string, unknown>): Promise<void> {
    const written = [...(await this.#versions())].filter(([name, version]) => before.get(name) !== version);
    if (written.length > 0) throw new Error(`${step}: written though nothing changed: ${JSON.stringify(written)}`);
  }

  /** Answers true once it has passed: not before the workloads are what the last step wants of them. */
  async #passInterval(): Promise<true> {
    const query = { group: "apps", version: "v1", kind: "Deployment", namespace: this.#recording.name };
    const states = (await this.#stage.cluster.list(query, this.#signal)).map(rolloutOf);
    const undone = states.filter(({ isDone }) => !isDone);
    if (undone.length > 0) throw new Error(`not rolled out: ${JSON.stringify(undone)}`);
    this.#checkRest();
    await this.#stage.pass(tickMs);
    return true;
  }

  #checkRest(): void {
    const { name } = this.#recording;
    if (!this.#stage.isAtRest(name)) throw new Error(`${name}: a run is under way`);
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
    return reworded(given, (text) => text.replaceAll(recordedStubs, this.#stage.stubs.url));
  }

  /** With the words of the recordings for values that are random. */
  #masked(left: Left): Left {
    return reworded(left, (text) => {
      for (const [, value = ""] of text.matchAll(/essionAffinityCookie":"[^"=]+=(\w+)"/g)) this.#cookies.add(value);
      const cookies = [...this.#cookies];
      const masked = cookies.reduce((all, value, index) => all.replaceAll(value, `<cookie-${index + 1}>`), text);
      return masked.replaceAll(/"timestamp":"\d{13}"/g, '"timestamp":"<milliseconds>"');
    });
  }

  async #left(): Promise<{ readonly left: Left; readonly told: Map<string, number> }> {
    const { cluster, stubs } = this.#stage;
    const { name: namespace } = this.#recording;
    const live = await cluster.list({ ...canaries, namespace }, this.#signal);
    for (const { metadata } of live) this.#words.owners.add(metadata.uid);
    const lists = await Promise.all(listed.map((kind) => cluster.list({ ...kind, namespace }, this.#signal)));
    const objects = lists.flat().filter(({ metadata: { name } }) => name !== "kube-root-ca.crt");
    const { events, told } = await this.#newEvents();
    const left = {
      canaries: live.map(shownCanary),
      objects: Object.fromEntries(
        objects.map((one) => [`${one.kind}/${one.metadata.name}`, shownObject(one, this.#words)]),
      ),
      events,
      requests: stubs.requests(namespace),
    };
    return { left: this.#masked(left), told };
  }

  /** Those told since the last step, also those that were counted up; in the order in which they were last written. */
  async #newEvents(): Promise<{ readonly events: readonly Told[]; readonly told: Map<string, number> }> {
    const query = { group: "", version: "v1", kind: "Event", namespace: this.#recording.name };
    const live = await this.#stage.cluster.list(query, this.#signal);
    const all = live.filter(isOfCanary).map((one) => CanaryEvent.parse(one));
    const events = all
      .filter(({ metadata, count }) => count > (this.#told.get(metadata.name) ?? 0))
      .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
      .map(({ type, message }) => ({ type, message }));
    return { events, told: new Map(all.map(({ metadata, count }) => [metadata.name, count])) };
  }

  /** The next scenario has the time for itself. */
  async #leave(): Promise<void> {
    const { cluster } = this.#stage;
    const { name: namespace } = this.#recording;
    for (const live of await cluster.list({ ...canaries, namespace }, this.#signal)) {
      await cluster.delete(refOf(live), { propagation: "Background" }, this.#signal);
    }
    await vi.waitFor(() => this.#checkRest(), withinDeadline);
  }
}

function reworded<Given extends object>(given: Given, change: (text: string) => string): Given {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- texts in it are replaced by texts
  return JSON.parse(change(JSON.stringify(given))) as Given;
}

/** Whether Flagger said and asked nothing: the step would be over before it has begun. */
function isSilent({ left: { events, requests } }: Step): boolean {
  return events.length === 0 && requests.length === 0;
}

/** Whether nothing was done before the step and nothing is different after it. */
function isUnchanged(step: Step, before: Step | undefined): boolean {
  return step.do.length === 0 && isSilent(step) && isDeepStrictEqual(step.left.canaries, before?.left.canaries);
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

/** Whether a Deployment runs what its spec says. */
export function rolloutOf(live: LiveObject): {
  readonly name: string;
  readonly isDone: boolean;
  readonly status: JsonObject;
} {
  const { metadata, spec, status } = Rollout.parse(live);
  const { replicas, updatedReplicas, availableReplicas } = status;
  const isDone =
    status.observedGeneration === metadata.generation &&
    [replicas, updatedReplicas, availableReplicas].every((count) => count === spec.replicas);
  return { name: metadata.name, isDone, status };
}
