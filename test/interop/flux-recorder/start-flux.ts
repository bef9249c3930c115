import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { z } from "zod";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { deadlineMs } from "../../deadline.ts";
import { ask } from "../../real/ask.ts";
import { freePorts } from "../../real/free-ports.ts";
import { logTail } from "../../real/log-tail.ts";

const Crd = z.looseObject({
  apiVersion: z.string(),
  kind: z.literal("CustomResourceDefinition"),
  metadata: z.object({ name: z.string() }),
  spec: z.looseObject({
    group: z.string(),
    names: z.looseObject({ kind: z.string() }),
    versions: z.tuple([z.looseObject({ name: z.string() })], z.looseObject({})),
  }),
});

const pollMs = 100;

/** Waits until this is so. Throws an error with the text of `why` if it is not so in time. */
export async function until(
  isSo: () => Promise<boolean>,
  why: () => string | Promise<string>,
  signal: AbortSignal,
): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(await why());
    await systemClock.sleep(pollMs, signal);
  }
}

export interface FluxOptions {
  /** The folder with source-controller and kustomize-controller. */
  readonly controllers: string;
  /** Folders with Flux's custom resource definitions. */
  readonly crds: readonly string[];
  readonly kubeconfig: string;
  /** For artifacts, temporary files and logs. */
  readonly folder: string;
  readonly cluster: Cluster;
  /** Whether it may reconcile objects that are in the cluster already. */
  readonly adopts?: boolean;
}

/** Runs Flux's two controllers as processes with their default flags. @returns the address that serves artifacts */
export async function startFlux(
  { controllers, crds, kubeconfig, folder, cluster, adopts = false }: FluxOptions,
  signal: AbortSignal,
): Promise<AsyncDisposable & { readonly artifacts: string }> {
  await installDefinitions(crds, cluster, signal);
  if (!adopts) await assertNobodysObjects(cluster, signal);
  const storage = join(folder, "storage");
  const scratch = join(folder, "scratch");
  await Promise.all([storage, scratch].map((path) => mkdir(path)));
  const common = { controllers, folder, env: { KUBECONFIG: kubeconfig, TMPDIR: scratch } };
  await using running = new AsyncDisposableStack();
  const serving = ([port]: readonly [number, number]) => [
    `--storage-path=${storage}`,
    `--storage-addr=127.0.0.1:${port}`,
    `--storage-adv-addr=127.0.0.1:${port}`,
  ];
  const { ports } = await startController(running, "source-controller", common, serving, signal);
  const artifacts = `127.0.0.1:${ports[0]}`;
  if (adopts) await untilServedFrom(artifacts, cluster, signal);
  await startController(running, "kustomize-controller", common, () => [], signal);
  const both = running.move();
  return { artifacts, [Symbol.asyncDispose]: () => both.disposeAsync() };
}

/** Returns once all are served: a controller that finds a kind missing looks again only after ten seconds. */
export async function installDefinitions(
  folders: readonly string[],
  cluster: Cluster,
  signal: AbortSignal,
): Promise<void> {
  const files = await Promise.all(
    folders.map(async (bases) => (await readdir(bases)).map((file) => join(bases, file))),
  );
  const texts = await Promise.all(files.flat().map((file) => readFile(file, "utf8")));
  const definitions = texts.flatMap((text) => loadAll(text)).map((document) => Crd.parse(document));
  for (const one of definitions) await cluster.apply(one, { manager: "bench", force: true }, signal);
  for (const { spec } of definitions) {
    const served = { group: spec.group, version: spec.versions[0].name, kind: spec.names.kind };
    const isServed = async () => (await cluster.resource(served, signal)) !== undefined;
    await until(isServed, () => `the cluster does not serve ${served.kind} of ${served.group}`, signal);
  }
}

/** Without this kustomize-controller would try for 3.5 minutes to fetch an artifact of Sluice. */
async function untilServedFrom(artifacts: string, cluster: Cluster, signal: AbortSignal): Promise<void> {
  const query = { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository" };
  let urls: readonly string[] = [];
  const isServed = async (): Promise<boolean> => {
    const found = await cluster.list(query, signal);
    urls = found.map((live) => WithArtifact.parse(live).status?.artifact?.url ?? "");
    return urls.every((url) => url.startsWith(`http://${artifacts}/`));
  };
  await until(isServed, () => `source-controller does not serve all of ${urls.join(", ")}`, signal);
}

const WithArtifact = z.object({
  status: z.object({ artifact: z.object({ url: z.string() }).optional() }).optional(),
});

/** Flux reconciles every object that it finds: on a shared control plane it would reconcile those of other tests. */
async function assertNobodysObjects(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const query = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" };
  const found = await cluster.list(query, signal);
  if (found.length > 0) {
    throw new Error(`${found.length} Kustomizations are in this cluster already: Flux needs one of its own`);
  }
}

export interface Common {
  readonly controllers: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A controller that runs. */
interface StartedController {
  readonly ports: readonly [number, number];
  readonly pid: number;
}

const maxStarts = 3;

/**
 * Starts a controller, and returns once it says that it is ready. A port that was free may be taken before the controller listens:
 * one that ends before it is ready is started again, with other ports.
 *
 * @param args further flags. They may use two ports beside those of its metrics and its health. @returns those ports, and its process
 */
export async function startController(
  running: AsyncDisposableStack,
  name: string,
  { controllers, folder, env }: Common,
  args: (ports: readonly [number, number]) => readonly string[],
  signal: AbortSignal,
): Promise<StartedController> {
  const path = join(folder, `${name}.log`);
  const why = async () => `${name} has not become ready; the end of its log:\n${await logTail(path)}`;
  for (let starts = 1; starts <= maxStarts; starts++) {
    await using log = await open(path, "a");
    const [one = 0, other = 0, metrics, health] = await freePorts(4);
    const addresses = [`--metrics-addr=127.0.0.1:${metrics}`, `--health-addr=127.0.0.1:${health}`];
    const stdio: ["ignore", number, number] = ["ignore", log.fd, log.fd];
    const child = spawn(join(controllers, name), [...addresses, ...args([one, other])], { env, stdio });
    await once(child, "spawn");
    const ended = once(child, "exit");
    running.defer(async () => {
      child.kill("SIGTERM");
      await ended;
    });
    const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
    const isReady = async (): Promise<boolean> => (await ask(`http://127.0.0.1:${health}/readyz`))?.status === 200;
    await until(async () => hasEnded() || (await isReady()), why, signal);
    if (!hasEnded()) return { ports: [one, other], pid: child.pid ?? 0 };
  }
  throw new Error(await why());
}
