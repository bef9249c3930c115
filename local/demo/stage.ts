import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findCondition } from "../../lib/api/condition.ts";
import { type Kustomization, parseKustomization } from "../../lib/api/kustomization.ts";
import type { LiveObject } from "../../lib/core/manifest.ts";
import { homeNetwork } from "../../lib/core/network/network-policy.ts";
import type { Cluster } from "../../lib/core/ports/cluster.ts";
import { letGo } from "../../lib/gate/cluster-owner.ts";
import { httpClient } from "../../lib/http/http-client.ts";
import { connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { pushArtifact } from "../../lib/sources/oci/push-artifact.ts";
import { registryClients } from "../../lib/sources/oci/registry-client.ts";
import { stateInstallation } from "../own-installation.ts";
import { type SluiceProcess, startSluiceProcess } from "../sluice-process.ts";
import { identityOf } from "../state-folder.ts";

export const namespace = "default";
export const appName = "oddy-test";

const longestLifeMs = 900_000;
const letGoWithinMs = 30_000;

/** A sentence of the story that did not hold. */
export class UnexpectedOutcome extends Error {
  override readonly name = "UnexpectedOutcome";
  constructor(expected: string, found: string) {
    super(`expected: ${expected}\nfound: ${found}`);
  }
}

/** Where the story plays: one Sluice, one cluster, one registry, and everything that a user in the story can do. */
export interface Stage {
  readonly cluster: Cluster;
  readonly signal: AbortSignal;
  sluice(): SluiceProcess;
  /** Starts Sluice again on the same state, after a kill. */
  restart(): Promise<void>;
  /** Pushes a folder, under tag v1 by default; answers the revision that the source will show and when the push ended. */
  push(
    folder: string,
    repository?: string,
    /** The revision of its origin in git. */
    origin?: string,
    tag?: string,
  ): Promise<{ readonly revision: string; readonly at: number }>;
  get(kind: string, name: string, apiVersion: string): Promise<LiveObject | undefined>;
  /** The Kustomization of the story. */
  app(): Promise<Kustomization>;
  /** `status message` of its Ready condition. */
  ready(): Promise<string>;
  /** The messages of all events about it, oldest first. */
  events(): Promise<readonly string[]>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function openStage(
  foreign: { readonly file: string; readonly context?: string } | undefined,
  signal: AbortSignal,
): Promise<Stage> {
  await using opening = new AsyncDisposableStack();
  const state = await mkdtemp(join(tmpdir(), "sluice-demo-"));
  opening.defer(() => rm(state, { recursive: true, force: true }));
  const folder = join(state, "state");
  const args = ["--state", folder, ...kubeconfigArgs(foreign)];
  // Not the story's own signal: Sluice has to run while a broken story is tidied up.
  const life = AbortSignal.timeout(longestLifeMs);
  let sluice = await startSluiceProcess(args, life);
  opening.defer(() => sluice.kill());
  const context = foreign?.context === undefined ? {} : { context: foreign.context };
  const config = await readKubeconfig({ file: sluice.ready.kubeconfig, ...context, env: process.env, homeDir: state });
  const cluster = connect(config, { clock: systemClock, env: process.env });
  opening.defer(() => cluster.close());
  if (foreign !== undefined) {
    opening.defer(async () => {
      await sluice.kill();
      await letGo(stateInstallation(await identityOf(folder)), cluster, AbortSignal.timeout(letGoWithinMs));
    });
  }
  const http = httpClient({ network: homeNetwork });
  opening.defer(() => http.close());
  const registry = registryClients(http, systemClock);
  const get = (kind: string, name: string, apiVersion: string) => {
    const [version = "", group = ""] = apiVersion.split("/").toReversed();
    return cluster.get({ group, version, kind, namespace, name }, signal);
  };
  let uid = "";
  const app = async () => {
    const live = await get("Kustomization", appName, "kustomize.toolkit.fluxcd.io/v1");
    if (live === undefined)
      throw new UnexpectedOutcome(`Kustomization/${namespace}/${appName} exists`, "it is missing");
    uid = live.metadata.uid;
    return parseKustomization(live);
  };
  const open = opening.move();
  return {
    cluster,
    signal,
    sluice: () => sluice,
    restart: async () => {
      sluice = await startSluiceProcess(args, life);
    },
    push: async (path, repository = appName, origin = "main@sha1:demo", tag = "v1") => {
      const url = `oci://${sluice.ready.registry}/${repository}:${tag}`;
      const artifact = { url, path, source: `https://example.com/${repository}`, revision: origin };
      const access = { insecure: true, userAgent: "sluice-demo" };
      const { digest } = await pushArtifact(artifact, ({ host }) => registry({ host, ...access }), signal);
      return { revision: `${tag}@${digest}`, at: Date.now() };
    },
    get,
    app,
    ready: async () => {
      const ready = findCondition((await app()).status.conditions ?? [], "Ready");
      return ready === undefined ? "no Ready condition" : `${ready.status} ${ready.message}`;
    },
    events: async () => {
      // By uid: a cluster may still hold the events of an earlier namesake.
      const fieldSelector = `involvedObject.kind=Kustomization,involvedObject.uid=${uid}`;
      const found = await cluster.list({ group: "", version: "v1", kind: "Event", namespace, fieldSelector }, signal);
      return found
        .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map(({ message }) => String(message));
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function kubeconfigArgs(foreign: { readonly file: string; readonly context?: string } | undefined): readonly string[] {
  if (foreign === undefined) return [];
  return ["--kubeconfig", foreign.file, ...(foreign.context === undefined ? [] : ["--context", foreign.context])];
}

const patienceMs = 60_000;

/** Waits until `look` answers something. Throws {@link UnexpectedOutcome} with what it found instead after a minute. */
export async function until<Found>(
  expected: string,
  look: () => Promise<Found | undefined>,
  found: () => Promise<string>,
  signal: AbortSignal,
): Promise<Found> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const result = await look();
    if (result !== undefined) return result;
    if (Date.now() > deadline) throw new UnexpectedOutcome(expected, await found());
    await systemClock.sleep(15, signal);
  }
}

/** Throws {@link UnexpectedOutcome} unless a sentence of the story holds now. */
export function mustBe(expected: string, holds: boolean, found: unknown): void {
  if (!holds) throw new UnexpectedOutcome(expected, typeof found === "string" ? found : JSON.stringify(found));
}
