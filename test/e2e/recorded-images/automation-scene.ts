import { expect, vi } from "vitest";
import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { deadlineMs } from "../../deadline.ts";
import type { OwnStage } from "../recorded-flux/own-sluice.ts";
import type { AutomationRecording, Left } from "./automation-recording.ts";
import type { ImageRegistry } from "./image-registry.ts";
import type { RecordedRepository } from "./recorded-repository.ts";
import type { Action } from "./recording.ts";
import { comparable, shownEvent, shownObject } from "./shown.ts";

const recordedRegistry = "127.0.0.1:26000";
const group = "image.toolkit.fluxcd.io";

/** What Sluice leaves on purpose after a step, in place of what Flux left; of what is absent the same. */
export type Difference = (flux: Left) => Left;

/** Where the scenario is played. */
export interface Stage {
  readonly own: OwnStage;
  readonly registry: ImageRegistry;
  readonly repository: RecordedRepository;
}

/** One playing of a recorded scenario of automations on a Sluice. */
export class AutomationScene {
  readonly #recording: AutomationRecording;
  readonly #stage: Stage;
  readonly #signal: AbortSignal;
  /** Names of the events, and commits, that were there at the step before. */
  #told = new Set<string>();
  #known = new Set<string>();
  #scans = 0;
  /** Digests of ours to those of the recording. */
  readonly #digests = new Map<string, string>();

  constructor(recording: AutomationRecording, stage: Stage, signal: AbortSignal) {
    this.#recording = recording;
    this.#stage = stage;
    this.#signal = signal;
  }

  /** Plays all steps. After each one, cluster and repository have to hold what they held with Flux. */
  async play(differences: ReadonlyMap<string, Difference>): Promise<readonly string[]> {
    const { name, namespace, steps } = this.#recording;
    const { own, repository } = this.#stage;
    const manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
    await own.cluster.create(manifest, { manager: "bench" }, this.#signal);
    const played: string[] = [];
    for (const [index, { step, do: actions, flux }] of steps.entries()) {
      for (const action of actions) await this.#act(action, index === 0);
      const wanted = differences.get(`${name}/${step}`)?.(flux) ?? flux;
      const isAsRecorded = async () => {
        if (!own.isAtRest(namespace)) throw new Error(`${name}/${step}: a run is under way`);
        const git = await repository.left(this.#known);
        const names = new Map([...repository.names].map(([recorded, oid]) => [oid, recorded]));
        for (const [at, { commit }] of git.commits.entries()) {
          names.set(commit, wanted.git.commits[at]?.commit ?? commit);
        }
        const left = this.#inRecordedWords({ ...(await this.#left(flux)), git }, names);
        expect({ step, left: shownLeft(left) }).toEqual({ step, left: shownLeft(wanted) });
      };
      await vi.waitFor(isAsRecorded, { timeout: deadlineMs, interval: 100 });
      const { commits } = await repository.left(this.#known);
      const names = wanted.git.commits.map(({ commit }) => commit);
      repository.name(commits, names);
      this.#known = new Set([...this.#known, ...commits.map(({ commit }) => commit)]);
      this.#told = new Set((await this.#events()).map(({ metadata }) => metadata.name));
      played.push(step);
    }
    return played;
  }

  async #act(action: Action, isFirst: boolean): Promise<void> {
    const { cluster } = this.#stage.own;
    if (action === "settle") return this.#settle();
    if ("publish" in action) return this.#publish(action.publish, isFirst);
    if ("apply" in action) {
      await cluster.apply(this.#ours(action.apply), { manager: "bench", force: true }, this.#signal);
      return;
    }
    if ("delete" in action) {
      await cluster.delete(this.#ref(action.delete), { propagation: "Background" }, this.#signal);
      return;
    }
    await this.#request(action.object, action.request);
  }

  async #request(object: string, requestedAt: string): Promise<void> {
    const body = { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": requestedAt } } };
    const { cluster } = this.#stage.own;
    await cluster.patch(this.#ref(object), { type: "merge", body }, { manager: "unknown" }, this.#signal);
  }

  /** Until the tags are scanned, and the policies have chosen. */
  async #settle(): Promise<void> {
    const { namespace } = this.#recording;
    const { own } = this.#stage;
    const isSettled = async () => {
      const policies = await own.cluster.list({ group, version: "v1", kind: "ImagePolicy", namespace }, this.#signal);
      for (const { status } of policies) expect(status).toMatchObject({ latestRef: {} });
      if (!own.isAtRest(namespace)) throw new Error("a run is under way");
    };
    await vi.waitFor(isSettled, { timeout: deadlineMs, interval: 50 });
  }

  async #publish(number: string, isFirst: boolean): Promise<void> {
    const { registry, repository } = this.#stage;
    const [name = "", content = {}] =
      Object.entries(this.#recording.source).find(([key]) => key.startsWith(`${number}. `)) ?? [];
    const [, commit] = /main is now (\S+)$/.exec(name) ?? [];
    const [, ref, moved] = /(refs\/\S+) is (?:now (\S+)|deleted)$/.exec(name) ?? [];
    if (ref !== undefined) return repository.move(ref, moved);
    if (commit !== undefined) {
      const { message, files } = Commit.parse(this.#ours(content));
      return repository.publish(commit, message, files);
    }
    const [, image = ""] = /^\d+\. ([^,:]+)/.exec(name) ?? [];
    for (const [tag, digest] of Object.entries(Tags.parse(content))) {
      this.#digests.set(await registry.push(image, tag, digest), digest);
    }
    if (!isFirst) await this.#request("ImageRepository/app", `scan ${(this.#scans += 1)}`);
  }

  #ours<Given extends object>(given: Given): Given {
    const { registry, repository } = this.#stage;
    const text = JSON.stringify(given)
      .replaceAll(recordedRegistry, registry.address)
      .replaceAll(/http:\/\/127\.0\.0\.1:26003\/[\w/-]+\.git/g, repository.url);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- texts in it are replaced by texts
    return JSON.parse(text) as Given;
  }

  #ref(object: string) {
    const [kind = "", name = ""] = object.split("/");
    return { group, version: "v1", kind, namespace: this.#recording.namespace, name };
  }

  async #left({ objects }: Left): Promise<Pick<Left, "events" | "objects">> {
    return {
      objects: await Promise.all(objects.map((one) => this.#object(one))),
      events: (await this.#events()).filter(({ metadata }) => !this.#told.has(metadata.name)).map(shownEvent),
    };
  }

  #inRecordedWords(left: Left, names: ReadonlyMap<string, string>): Left {
    const { registry } = this.#stage;
    let text = JSON.stringify(left).replaceAll(registry.address, recordedRegistry);
    for (const [own, recorded] of this.#digests) text = text.replaceAll(own, recorded);
    for (const [oid, name] of names) {
      text = text.replaceAll(oid, name).replaceAll(`'${oid.slice(0, 7)}'`, `'${name.replace(/>$/, ", 7>")}'`);
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- texts in it are replaced by texts
    return JSON.parse(text) as Left;
  }

  async #object(recorded: JsonObject): Promise<JsonObject> {
    const { kind, name } = Named.parse({ name: recorded["metadata"], ...recorded });
    const live = await this.#stage.own.cluster.get(this.#ref(`${kind}/${name}`), this.#signal);
    // The answer of the API server is its own, whatever reconciles.
    return live === undefined ? { kind, name, answer: recorded["answer"] ?? "gone" } : shownObject(live);
  }

  async #events(): Promise<readonly LiveObject[]> {
    const query = { group: "", version: "v1", kind: "Event", namespace: this.#recording.namespace };
    const all = await this.#stage.own.cluster.list(query, this.#signal);
    const ofAutomations = all.filter((event) => {
      const { involvedObject } = event;
      return isJsonObject(involvedObject) && involvedObject["kind"] === "ImageUpdateAutomation";
    });
    return ofAutomations.toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
  }
}

const Tags = z.record(z.string(), z.string());
const Commit = z.object({ message: z.string(), files: z.record(z.string(), z.unknown()) });
const Named = z.object({
  kind: z.string(),
  name: z.union([z.string(), z.looseObject({ name: z.string() }).transform(({ name }) => name)]),
});

/** Without what differs from run to run; a last line feed of a text cannot be told from none. */
function shownLeft({ objects, events, git }: Left) {
  const commits = git.commits.map(({ files, message, ...commit }) => ({
    ...commit,
    message: message.replace(/\n$/, ""),
    files: Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text.replace(/\n$/, "")])),
  }));
  const text = JSON.stringify({ ...comparable({ objects, events }), git: { refs: git.refs, commits } });
  const times = text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "<time>")
    .replaceAll(/lstat (?:<tmp>\/)?/g, "lstat ")
    .replaceAll(/"url":"[^"]*"/g, '"url":""');
  const shown: unknown = JSON.parse(times);
  return shown;
}
