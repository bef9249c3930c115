import { generateKeyPairSync, type KeyPairKeyObjectResult } from "node:crypto";
import { expect, vi } from "vitest";
import { z } from "zod";
import { equal, isJsonObject, type JsonObject, toJsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { parseApiVersion } from "../../../lib/core/object-ref.ts";
import { ApiError, type Cluster } from "../../../lib/core/ports/cluster.ts";
import type { Http } from "../../../lib/core/ports/http.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { registryClients } from "../../../lib/sources/oci/registry-client.ts";
import { deadlineMs } from "../../deadline.ts";
import { signSimply } from "../../doubles/cosign-signatures.ts";
import { deliver } from "./deliver.ts";
import type { GitHost } from "./git-host.ts";
import type { HelmHost } from "./helm-host.ts";
import { givenManaged, givenNote } from "./given-recordings.ts";
import { pushFiles } from "./push-files.ts";
import { isRepeated, renamed, type Shown, shownEvent, shownManaged } from "./shown.ts";
import { type Action, type Input, namedObject, type Scenario, type Step, Written } from "./steps.ts";

/** Where a scenario is played: real Flux on a real cluster, or Sluice. */
export interface Stage {
  readonly cluster: Cluster;
  readonly http: Http;
  /** `HOST:PORT`, plain HTTP. */
  readonly registry: string;
  /** The same over TLS, where a scenario may ask for it. */
  readonly secureRegistry?: SecureRegistry;
  /** Where a scenario has git repositories, and where it sends webhooks: `http://HOST:PORT`. */
  readonly git?: Pick<GitHost, "address" | "publish">;
  readonly receiver?: string;
  /** Where a scenario has Helm repositories. */
  readonly helm?: Pick<HelmHost, "address" | "publish">;
  /** A kubeconfig that leads to the cluster with a service account's rights, for scenarios that have one. */
  readonly kubeconfigOf?: (namespace: string, account: string) => Promise<string>;
  /** Lets the time pass after which Sluice gives up what is waited for. Undefined where time only passes by itself. */
  readonly passTimeout?: () => Promise<void>;
  /** Whether no run of an object of this namespace is under way or asked for. */
  readonly isAtRest?: (namespace: string) => boolean;
}

export interface SecureRegistry {
  /** `HOST:PORT`. */
  readonly address: string;
  /** PEM of the authority that signed its certificate, and of one that did not. */
  readonly authority: string;
  readonly otherAuthority: string;
}

/** The registry's addresses of the recorder, and of the given recordings. */
const recordedRegistry = /127\.0\.0\.1:(?:15000|26000)/g;
const recordedSecureRegistry = /127\.0\.0\.1:26001/g;
const recordedGit = "127.0.0.1:26003";
const recordedHelm = "127.0.0.1:26004";

const controllers = new Set(["source-controller", "kustomize-controller", "notification-controller"]);

/** One playing of a scenario. */
export class Scene {
  readonly scenario: Scenario;
  readonly #stage: Stage;
  readonly #signal: AbortSignal;
  readonly #digests = new Map<string, string>();
  /** The digest of an artifact that we pushed to what the recording calls it. */
  readonly #recordedDigests = new Map<string, string>();
  readonly #signers = new Map<string, KeyPairKeyObjectResult>();
  /** By the name of an event, its count when it was last shown. */
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

  /** Deletes the namespace with its objects, while the controllers that remove their finalizers still run. */
  async end(): Promise<void> {
    const ref = { group: "", version: "v1", kind: "Namespace", namespace: "", name: this.scenario.namespace };
    await this.#stage.cluster.delete(ref, { propagation: "Background" }, this.#signal);
    await this.#await(`v1 Namespace /${this.scenario.namespace} gone`);
  }

  async act(action: Action): Promise<void> {
    const { cluster } = this.#stage;
    if ("push" in action) return this.#push(action);
    if ("publish" in action) return this.#publish(action.publish, action.needsLogin ?? false);
    if ("deliver" in action) return this.#deliver(action.deliver);
    if ("write" in action) return this.#writeAll(action.write);
    if ("apply" in action) return this.#apply(action.apply, action.spec ?? {});
    if ("await" in action) return this.#await(action.await);
    if ("timeOut" in action) return this.#timeOut(action);
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

  async #push({
    push,
    tag = push.split(",")[0],
    namesSource,
    digest,
    signedBy,
  }: Extract<Action, { push: string }>): Promise<void> {
    const files = this.scenario.pushes[push];
    if (files === undefined) throw new Error(`the source has no ${push}`);
    const { http, registry } = this.#stage;
    const url = `oci://${registry}/${this.scenario.namespace}:${tag}`;
    const pushed = await pushFiles(url, files, http, this.#signal, namesSource);
    this.#digests.set(push, pushed);
    if (digest !== undefined) this.#recordedDigests.set(pushed, digest);
    if (signedBy === undefined) return;
    const client = registryClients(http, systemClock)({ host: registry, insecure: true });
    const artifact = { client, repository: this.scenario.namespace, digest: pushed };
    await signSimply(artifact, this.#signer(signedBy).privateKey);
  }

  /** A key of cosign in place of the recorder's, of which only the public part is known. */
  #signer(name: string): KeyPairKeyObjectResult {
    const pair = this.#signers.get(name) ?? generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#signers.set(name, pair);
    return pair;
  }

  async #publish(name: string, needsLogin: boolean): Promise<void> {
    const { git, helm } = this.#stage;
    const charts = this.scenario.charts[name];
    if (charts !== undefined) {
      if (helm === undefined) throw new Error("no Helm server");
      for (const [own, recorded] of await helm.publish(name, charts)) this.#recordedDigests.set(own, recorded);
      return;
    }
    const change = this.scenario.changes[name];
    if (change === undefined) throw new Error(`the source has no ${name}`);
    if (git === undefined) throw new Error("no git server");
    await git.publish(this.scenario.namespace, name, change, needsLogin);
  }

  async #deliver(name: string): Promise<void> {
    const requests = this.scenario.steps.find(({ step }) => step.replace(/^\d+-/, "") === name)?.requests ?? [];
    if (requests.length === 0) throw new Error(`${name} has no requests`);
    await deliver(requests, this.#stage.receiver ?? "", this.#signal);
  }

  async #apply(name: string, change: JsonObject): Promise<void> {
    const ref = this.#ref(name);
    const written = this.scenario.input.find(
      ({ object: { kind, metadata } }) =>
        kind === ref.kind && metadata.name === ref.name && (metadata.namespace ?? "") === ref.namespace,
    )?.object;
    if (written === undefined) throw new Error(`the input has no ${name}`);
    const spec = Object.entries({ ...(isJsonObject(written["spec"]) ? written["spec"] : {}), ...change });
    const kept = Object.fromEntries(spec.filter(([, value]) => value !== null));
    await this.#write({
      step: undefined,
      how: "apply",
      manager: "bench",
      object: { ...written, ...(spec.length === 0 ? {} : { spec: kept }) },
    });
  }

  async #writeAll(step: string): Promise<void> {
    const inputs = this.scenario.input.filter((input) => input.step === step);
    if (inputs.length === 0) throw new Error(`the input has nothing for ${step}`);
    for (const input of inputs) await this.#write(input);
  }

  async #write({ how, manager, object }: Input): Promise<void> {
    const { cluster } = this.#stage;
    const { apiVersion, kind, metadata, ...fields } = Written.parse(JSON.parse(this.#ours(JSON.stringify(object))));
    const { stringData, ...others } = z
      .looseObject({ stringData: z.record(z.string(), z.string()).exactOptional() })
      .parse(fields);
    const written = {
      apiVersion,
      kind,
      metadata,
      ...others,
      ...(stringData === undefined ? {} : { data: Object.fromEntries(Object.entries(stringData).map(inBase64)) }),
      ...(await this.#kubeconfigIn(others)),
    };
    if (how === "create") {
      await cluster.create(written, { manager }, this.#signal);
      return;
    }
    if (how === "apply") {
      await cluster.apply(written, { manager, force: true }, this.#signal);
      return;
    }
    const { name, namespace = "" } = metadata;
    const ref = { ...parseApiVersion(apiVersion), kind, namespace, name };
    const body = toJsonObject(z.record(z.string(), z.json()).parse({ metadata, ...others }));
    const options = how === "status written" ? { manager, subresource: "status" } : { manager };
    await cluster.patch(ref, { type: "merge", body }, options, this.#signal);
  }

  /** In place of a kubeconfig that the recording describes, one that leads to our cluster. */
  async #kubeconfigIn(fields: object): Promise<JsonObject> {
    const { value = "" } =
      z.object({ data: z.object({ value: z.string().exactOptional() }) }).safeParse(fields).data?.data ?? {};
    const [, account] = /^<base64 of this>[^]*<a token of ServiceAccount ([^>]+)>/.exec(value) ?? [];
    if (account === undefined) return {};
    const { kubeconfigOf } = this.#stage;
    if (kubeconfigOf === undefined) throw new Error("no kubeconfigs");
    const text = await kubeconfigOf(this.scenario.namespace, account);
    return { data: { value: Buffer.from(text).toString("base64") } };
  }

  /** What the recording wrote, with our addresses, artifacts and certificates. */
  #ours(text: string): string {
    const { registry, secureRegistry, git, helm } = this.#stage;
    const { address = "", authority = "", otherAuthority = "" } = secureRegistry ?? {};
    const asText = (pem: string) => JSON.stringify(pem).slice(1, -1);
    return [...this.#recordedDigests]
      .reduce((left, [own, recorded]) => left.replaceAll(recorded, own), text)
      .replace(recordedRegistry, registry)
      .replace(recordedSecureRegistry, address)
      .replaceAll(recordedGit, git?.address ?? recordedGit)
      .replaceAll(recordedHelm, helm?.address ?? recordedHelm)
      .replace("<certificate of the golden CA>", asText(authority))
      .replace("<certificate of another CA>", asText(otherAuthority))
      .replace(/<public key of ([^>]+)>/g, (_, name: string) =>
        asText(String(this.#signer(name).publicKey.export({ type: "spki", format: "pem" }))),
      )
      .replace(/<digest of ([^>]+)>/g, (_, push: string) => this.#digests.get(push) ?? "");
  }

  #asRecorded({ objects, events, managed, notes }: Shown): Shown {
    const { git, helm } = this.#stage;
    const pairs = [
      ...this.#recordedDigests,
      ...(git === undefined ? [] : ([[git.address, recordedGit]] as const)),
      ...(helm === undefined ? [] : ([[helm.address, recordedHelm]] as const)),
    ];
    const change = (text: string) => pairs.reduce((left, [own, recorded]) => left.replaceAll(own, recorded), text);
    const each = (shown: readonly JsonObject[]) => shown.map((one) => renamed(one, change));
    const named = { objects: each(objects), events: each(events), managed: each(managed) };
    return notes === undefined ? named : { ...named, notes };
  }

  async #await(text: string): Promise<void> {
    const [, name = "", wanted = ""] = /^(.+?) (gone|there|observed|\w+=\w+(?: \w+)?)$/.exec(text) ?? [];
    const hasCome = async () => {
      if (!isAs(wanted, await this.#live(name))) throw new Error(`${this.scenario.name}: ${text} did not come`);
    };
    await vi.waitFor(hasCome, { timeout: deadlineMs, interval: 50 });
  }

  /** Lets time pass as soon as no object of the step needs it but those that wait until it is over. */
  async #timeOut(action: Extract<Action, { timeOut: unknown }>): Promise<void> {
    const { passTimeout, isAtRest } = this.#stage;
    if (passTimeout === undefined || isAtRest === undefined) return;
    const { objects = [] } = this.scenario.steps.find((step) => step.do.includes(action)) ?? {};
    const waiting = action.timeOut;
    const others = objects.filter((name) => !waiting.some((one) => equal(this.#ref(one), this.#ref(name))));
    const areWaiting = async () => {
      const areOver = isAtRest(this.scenario.namespace);
      const [waitingNow, othersNow] = await Promise.all(
        [waiting, others].map((names) => Promise.all(names.map((name) => this.#live(name)))),
      );
      expect({ areOver, waiting: waitingNow?.every(isWaiting), others: othersNow?.some(isWaiting) }).toEqual({
        areOver: true,
        waiting: true,
        others: false,
      });
    };
    await vi.waitFor(areWaiting, { timeout: deadlineMs, interval: 50 });
    await passTimeout();
  }

  /** What is there now. Told events stay new until {@link turnPage}. */
  async show({ objects, managed, notes = {} }: Step): Promise<Shown> {
    const { isGiven } = this.scenario;
    const each = <T>(names: readonly string[], show: (live: LiveObject | undefined, name: string) => T) =>
      Promise.all(names.map(async (name) => show(await this.#live(name), name)));
    const shown = {
      objects: await each(objects, (live, name) => (live === undefined ? { gone: name } : toJsonObject(live))),
      events: (await this.#newEvents()).map(shownEvent),
      managed: await each(managed, (live, name) => {
        if (live === undefined) return { gone: name };
        return isGiven ? givenManaged(toJsonObject(live)) : shownManaged(live);
      }),
    };
    if (!isGiven) return this.#asRecorded(shown);
    const noted = await each(Object.keys(notes), (live, name) => [name, givenNote(live, notes[name] ?? null)] as const);
    return this.#asRecorded({ ...shown, notes: Object.fromEntries(noted) });
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

  /** The next step does not show again what was shown until now. */
  async turnPage(): Promise<void> {
    for (const event of await this.#newEvents()) this.#told.set(event.metadata.name, countOf(event));
  }

  async #newEvents(): Promise<readonly LiveObject[]> {
    const { namespace } = this.scenario;
    const query = { group: "", version: "v1", kind: "Event", namespace };
    return (await this.#stage.cluster.list(query, this.#signal))
      .filter((event) => controllers.has(String(event["reportingComponent"])))
      .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
      .filter((event, at, all) => !isRepeated(event, all.slice(0, at)))
      .filter((event) => countOf(event) > (this.#told.get(event.metadata.name) ?? 0));
  }
}

function inBase64([key, value]: readonly [string, string]): readonly [string, string] {
  return [key, Buffer.from(value).toString("base64")];
}

function requestOf(number: number): JsonObject {
  return { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": `<requested-${number}>` } } };
}

function isAs(wanted: string, live: LiveObject | undefined): boolean {
  if (wanted === "gone" || wanted === "there") return (live === undefined) === (wanted === "gone");
  // By its own controller: a later change is another one, not the same again.
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

/** Whether Sluice looks again and again for what this object waits for. */
function isWaiting(live: LiveObject | undefined): boolean {
  return live?.metadata.deletionTimestamp !== undefined || isAs("Ready=Unknown", live);
}

function observedGeneration({ status }: LiveObject): unknown {
  return isJsonObject(status) ? status["observedGeneration"] : undefined;
}

function countOf({ count }: LiveObject): number {
  return typeof count === "number" ? count : 1;
}
