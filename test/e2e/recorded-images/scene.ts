import { expect, vi } from "vitest";
import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import { type LiveObject, type Manifest } from "../../../lib/core/manifest.ts";
import { deadlineMs } from "../../deadline.ts";
import type { OwnStage } from "../recorded-flux/own-sluice.ts";
import type { ImageRegistry } from "./image-registry.ts";
import type { Action, Left, Recording } from "./recording.ts";
import { comparable, shownEvent, shownObject } from "./shown.ts";

const recordedRegistry = "127.0.0.1:26000";
const group = "image.toolkit.fluxcd.io";

/** One playing of a recorded scenario on a Sluice. */
export class Scene {
  readonly #recording: Recording;
  readonly #stage: OwnStage;
  readonly #registry: ImageRegistry;
  readonly #signal: AbortSignal;
  /** Digests of ours to those of the recording. */
  readonly #recorded = new Map<string, string>();
  /** Names of the events that were there at the step before. */
  #told = new Set<string>();

  constructor(recording: Recording, stage: OwnStage, registry: ImageRegistry, signal: AbortSignal) {
    this.#recording = recording;
    this.#stage = stage;
    this.#registry = registry;
    this.#signal = signal;
  }

  /** Plays all steps. After each one, the cluster has to hold what it held with Flux. */
  async play(): Promise<readonly string[]> {
    const { name, namespace, steps } = this.#recording;
    const manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
    await this.#stage.cluster.create(manifest, { manager: "bench" }, this.#signal);
    const played: string[] = [];
    for (const { step, do: actions, flux } of steps) {
      for (const action of actions) await this.#act(action);
      const wanted = comparable(flux);
      const isAsRecorded = async () => {
        if (!this.#stage.isAtRest(namespace)) throw new Error(`${name}/${step}: a run is under way`);
        expect({ step, left: comparable(await this.#left(flux)) }).toEqual({ step, left: wanted });
      };
      await vi.waitFor(isAsRecorded, { timeout: deadlineMs, interval: 100 });
      this.#told = new Set((await this.#events()).map(({ metadata }) => metadata.name));
      played.push(step);
    }
    return played;
  }

  async #act(action: Action): Promise<void> {
    const { cluster } = this.#stage;
    if (action === "settle") return this.#settle();
    if ("publish" in action) return this.#publish(action.publish);
    if ("apply" in action) {
      await cluster.apply(this.#ours(action.apply), { manager: "bench", force: true }, this.#signal);
      return;
    }
    if ("delete" in action) {
      await cluster.delete(this.#ref(action.delete), { propagation: "Background" }, this.#signal);
      return;
    }
    const body = { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": action.request } } };
    await cluster.patch(this.#ref(action.object), { type: "merge", body }, { manager: "unknown" }, this.#signal);
  }

  /** Until every object has been looked at, and all that follows from it has happened. */
  async #settle(): Promise<void> {
    const { namespace } = this.#recording;
    const isSettled = async () => {
      const lists = await Promise.all(
        ["ImageRepository", "ImagePolicy"].map((kind) =>
          this.#stage.cluster.list({ group, version: "v1", kind, namespace }, this.#signal),
        ),
      );
      expect(lists.flat().filter((live) => !isHandled(live))).toEqual([]);
      if (!this.#stage.isAtRest(namespace)) throw new Error("a run is under way");
    };
    await vi.waitFor(isSettled, { timeout: deadlineMs, interval: 50 });
  }

  async #publish(number: string): Promise<void> {
    const [name = "", content = {}] =
      Object.entries(this.#recording.source).find(([key]) => key.startsWith(`${number}. `)) ?? [];
    const [, repository = ""] = /^\d+\. ([^,:]+)/.exec(name) ?? [];
    if (isRemoval(content)) {
      for (const tag of content) await this.#registry.remove(repository, tag);
      return;
    }
    for (const [tag, digest] of tagsIn(content)) {
      this.#recorded.set(await this.#registry.push(repository, tag, digest), digest);
    }
  }

  #ours(manifest: Manifest): Manifest {
    const text = JSON.stringify(manifest).replaceAll(recordedRegistry, this.#registry.address);
    return Written.parse(JSON.parse(text));
  }

  #ref(object: string) {
    const [kind = "", name = ""] = object.split("/");
    return { group, version: "v1", kind, namespace: this.#recording.namespace, name };
  }

  /** What is there of what the recording shows. */
  async #left({ objects }: Left): Promise<Left> {
    const shown = {
      objects: await Promise.all(objects.map((one) => this.#object(one))),
      events: (await this.#events()).filter(({ metadata }) => !this.#told.has(metadata.name)).map(shownEvent),
    };
    const pairs = [...this.#recorded, [this.#registry.address, recordedRegistry] as const];
    const text = pairs.reduce((left, [own, recorded]) => left.replaceAll(own, recorded), JSON.stringify(shown));
    return Shown.parse(JSON.parse(text));
  }

  async #object(recorded: JsonObject): Promise<JsonObject> {
    const { kind, name } = Named.parse({ name: recorded["metadata"], ...recorded });
    const live = await this.#stage.cluster.get(this.#ref(`${kind}/${name}`), this.#signal);
    // The answer of the API server is its own, whatever reconciles.
    return live === undefined ? { kind, name, answer: recorded["answer"] ?? "gone" } : shownObject(live);
  }

  async #events(): Promise<readonly LiveObject[]> {
    const query = { group: "", version: "v1", kind: "Event", namespace: this.#recording.namespace };
    const all = await this.#stage.cluster.list(query, this.#signal);
    return all.toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
  }
}

const Written = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().exactOptional() }),
});
const AnyObject = z.custom<JsonObject>(isJsonObject);
const Shown = z.object({ objects: z.array(AnyObject), events: z.array(AnyObject) });
const Named = z.object({
  kind: z.string(),
  name: z.union([z.string(), z.looseObject({ name: z.string() }).transform(({ name }) => name)]),
});
const Status = z.looseObject({
  conditions: z
    .array(z.looseObject({ type: z.string(), status: z.string(), observedGeneration: z.number().optional() }))
    .default([]),
  lastHandledReconcileAt: z.string().optional(),
});

function isHandled({ metadata, status }: LiveObject): boolean {
  const { conditions, lastHandledReconcileAt } = Status.parse(status ?? {});
  const requested = metadata.annotations?.["reconcile.fluxcd.io/requestedAt"];
  const ready = conditions.find(({ type }) => type === "Ready");
  const isDone = ready !== undefined && ready.status !== "Unknown" && ready.observedGeneration === metadata.generation;
  return isDone && (requested === undefined || requested === lastHandledReconcileAt);
}

function isRemoval(content: Readonly<Record<string, string>> | readonly string[]): content is readonly string[] {
  return Array.isArray(content);
}

/** Digests by tag. `from: 1.0.0, to: 1.49.9` are all versions between them, of one digest. */
function tagsIn(content: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  const { from, to, digest } = content;
  if (from === undefined || to === undefined || digest === undefined) return Object.entries(content);
  const [, minors = 0, patches = 0] = to.split(".").map(Number);
  return Array.from({ length: minors + 1 }, (_, minor) =>
    Array.from({ length: patches + 1 }, (__, patch) => [`1.${minor}.${patch}`, digest] as const),
  ).flat();
}
