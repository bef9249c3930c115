import { vi } from "vitest";
import { isJsonObject, type JsonObject, toJsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { ApiError, type Cluster } from "../../../lib/core/ports/cluster.ts";
import type { Http } from "../../../lib/core/ports/http.ts";
import { pushFiles } from "./push-files.ts";
import { type Shown, shownEvent, shownManaged } from "./shown.ts";
import { type Action, namedObject, type Scenario, type Step, Written } from "./steps.ts";

/** Where a scenario is played: real Flux on a real cluster, or Sluice. */
export interface Stage {
  readonly cluster: Cluster;
  readonly http: Http;
  /** `HOST:PORT`, plain HTTP. */
  readonly registry: string;
}

const recordedRegistry = "127.0.0.1:15000";

/** One playing of a scenario. */
export class Scene {
  readonly scenario: Scenario;
  readonly #stage: Stage;
  readonly #signal: AbortSignal;
  readonly #digests = new Map<string, string>();
  /** By the name of an event, how often it was counted when it was last told. */
  #told = new Map<string, number>();
  #requests = 0;

  constructor(scenario: Scenario, stage: Stage, signal: AbortSignal) {
    this.scenario = scenario;
    this.#stage = stage;
    this.#signal = signal;
  }

  async begin(): Promise<void> {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: this.scenario.namespace } };
    await this.#stage.cluster.create(namespace, { manager: "bench" }, this.#signal);
  }

  /** Deletes the namespace and, while whoever follows them is still there, all that the scenario left in it. */
  async end(): Promise<void> {
    const ref = { group: "", version: "v1", kind: "Namespace", namespace: "", name: this.scenario.namespace };
    await this.#stage.cluster.delete(ref, { propagation: "Background" }, this.#signal);
    await this.#await(`v1 Namespace /${this.scenario.namespace} gone`);
  }

  async act(action: Action): Promise<void> {
    const { cluster } = this.#stage;
    if ("push" in action) return this.#push(action.push);
    if ("apply" in action) return this.#apply(action.apply, action.spec ?? {});
    if ("await" in action) return this.#await(action.await);
    if ("create" in action) {
      await cluster.create(action.create, { manager: action.manager }, this.#signal);
      return;
    }
    if ("delete" in action) {
      await cluster.delete(this.#ref(action.delete), { propagation: "Background" }, this.#signal);
      return;
    }
    const [name, manager, body] =
      "request" in action
        ? [action.request, "unknown", requestOf(++this.#requests)]
        : [action.edit, action.manager, action.patch];
    await cluster.patch(this.#ref(name), { type: "merge", body }, { manager }, this.#signal);
  }

  #ref(name: string) {
    return namedObject(name, this.scenario.namespace);
  }

  async #push(name: string): Promise<void> {
    const files = this.scenario.pushes[name];
    if (files === undefined) throw new Error(`source.yaml has no ${name}`);
    const [tag = ""] = name.split(",");
    const { http, registry } = this.#stage;
    const url = `oci://${registry}/${this.scenario.namespace}:${tag}`;
    this.#digests.set(name, await pushFiles(url, files, http, this.#signal));
  }

  async #apply(name: string, change: JsonObject): Promise<void> {
    const ref = this.#ref(name);
    const written = this.scenario.input.find(
      ({ kind, metadata }) =>
        kind === ref.kind && metadata.name === ref.name && (metadata.namespace ?? "") === ref.namespace,
    );
    if (written === undefined) throw new Error(`input.yaml has no ${name}`);
    const spec = Object.entries({ ...(isJsonObject(written["spec"]) ? written["spec"] : {}), ...change });
    const kept = Object.fromEntries(spec.filter(([, value]) => value !== null));
    const text = JSON.stringify({ ...written, ...(spec.length === 0 ? {} : { spec: kept }) })
      .replaceAll(recordedRegistry, this.#stage.registry)
      .replace(/<digest of ([^>]+)>/g, (_, push: string) => this.#digests.get(push) ?? "");
    await this.#stage.cluster.apply(Written.parse(JSON.parse(text)), { manager: "bench", force: true }, this.#signal);
  }

  async #await(text: string): Promise<void> {
    const [, name = "", wanted = ""] = /^(.+?) (gone|there|observed|\w+=\w+(?: \w+)?)$/.exec(text) ?? [];
    const hasCome = async () => {
      if (!isAs(wanted, await this.#live(name))) throw new Error(`${this.scenario.name}: ${text} did not come`);
    };
    await vi.waitFor(hasCome, { timeout: 120_000, interval: 50 });
  }

  /** What is there now. Told events stay new until {@link turnPage}. */
  async show({ objects, managed }: Step): Promise<Shown> {
    const live = (name: string) => this.#live(name);
    return {
      objects: await Promise.all(objects.map(async (name) => toJsonObject((await live(name)) ?? { gone: name }))),
      events: (await this.#newEvents()).map(shownEvent),
      managed: await Promise.all(
        managed.map(async (name) => {
          const object = await live(name);
          return object === undefined ? { gone: name } : shownManaged(object);
        }),
      ),
    };
  }

  /** Undefined too where the cluster does not know the kind. */
  async #live(name: string): Promise<LiveObject | undefined> {
    try {
      return await this.#stage.cluster.get(this.#ref(name), this.#signal);
    } catch (error) {
      if (error instanceof ApiError && error.reason === "NoMatch") return undefined;
      throw error;
    }
  }

  /** What was told until now is no news in the next step. */
  async turnPage(): Promise<void> {
    for (const event of await this.#newEvents()) this.#told.set(event.metadata.name, countOf(event));
  }

  async #newEvents(): Promise<readonly LiveObject[]> {
    const { namespace } = this.scenario;
    const query = { group: "", version: "v1", kind: "Event", namespace };
    return (await this.#stage.cluster.list(query, this.#signal))
      .filter((event) => ["source-controller", "kustomize-controller"].includes(String(event["reportingComponent"])))
      .filter((event) => countOf(event) > (this.#told.get(event.metadata.name) ?? 0))
      .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
  }
}

function requestOf(number: number): JsonObject {
  return { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": `<requested-${number}>` } } };
}

function isAs(wanted: string, live: LiveObject | undefined): boolean {
  if (wanted === "gone" || wanted === "there") return (live === undefined) === (wanted === "gone");
  // By its own controller: what comes later is another change to it, and not the same one.
  if (wanted === "observed") return live !== undefined && observedGeneration(live) === live.metadata.generation;
  const [, type, status, reason] = /^(\w+)=(\w+)(?: (\w+))?$/.exec(wanted) ?? [];
  const conditions = isJsonObject(live?.["status"]) ? live["status"]["conditions"] : undefined;
  return (
    Array.isArray(conditions) &&
    conditions.filter(isJsonObject).some((one) => {
      const { type: itsType, status: itsStatus, reason: itsReason } = one;
      return itsType === type && itsStatus === status && (reason === undefined || itsReason === reason);
    })
  );
}

function observedGeneration({ status }: LiveObject): unknown {
  return isJsonObject(status) ? status["observedGeneration"] : undefined;
}

function countOf({ count }: LiveObject): number {
  return typeof count === "number" ? count : 1;
}
