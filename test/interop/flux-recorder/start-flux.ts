import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { z } from "zod";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { systemClock } from "../../../lib/core/system-clock.ts";
import { freePorts } from "../../real/free-ports.ts";

const Crd = z.looseObject({
  apiVersion: z.string(),
  kind: z.literal("CustomResourceDefinition"),
  metadata: z.object({ name: z.string() }),
});

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
  for (const bases of crds) {
    for (const file of await readdir(bases)) {
      for (const document of loadAll(await readFile(join(bases, file), "utf8"))) {
        await cluster.apply(Crd.parse(document), { manager: "bench", force: true }, signal);
      }
    }
  }
  if (!adopts) await assertNobodysObjects(cluster, signal);
  const storage = join(folder, "storage");
  const scratch = join(folder, "scratch");
  await Promise.all([storage, scratch].map((path) => mkdir(path)));
  const [artifactPort, ...ports] = await freePorts(5);
  const artifacts = `127.0.0.1:${artifactPort}`;
  const addresses = (index: number) => [
    `--metrics-addr=127.0.0.1:${ports[index]}`,
    `--health-addr=127.0.0.1:${ports[index + 1]}`,
  ];
  const common = { controllers, folder, env: { KUBECONFIG: kubeconfig, TMPDIR: scratch } };
  const sourceController = await start("source-controller", common, [
    ...addresses(0),
    `--storage-path=${storage}`,
    `--storage-addr=${artifacts}`,
    `--storage-adv-addr=${artifacts}`,
  ]);
  if (adopts) await untilServedFrom(artifacts, cluster, signal);
  const kustomizeController = await start("kustomize-controller", common, addresses(2));
  return {
    artifacts,
    async [Symbol.asyncDispose]() {
      await Promise.all([sourceController(), kustomizeController()]);
    },
  };
}

/** Without this kustomize-controller would try for 3.5 minutes to fetch an artifact of Sluice. */
async function untilServedFrom(artifacts: string, cluster: Cluster, signal: AbortSignal): Promise<void> {
  const query = { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository" };
  const deadline = Date.now() + 60_000;
  for (;;) {
    const urls = (await cluster.list(query, signal)).map(
      (live) => WithArtifact.parse(live).status?.artifact?.url ?? "",
    );
    if (urls.every((url) => url.startsWith(`http://${artifacts}/`))) return;
    if (Date.now() > deadline) throw new Error(`source-controller does not serve all of ${urls.join(", ")}`);
    await systemClock.sleep(100, signal);
  }
}

const WithArtifact = z.object({
  status: z.object({ artifact: z.object({ url: z.string() }).optional() }).optional(),
});

/** Flux reconciles every object that it finds: on a shared control plane it would reconcile those of other tests. */
async function assertNobodysObjects(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const query = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" };
  const deadline = Date.now() + 30_000;
  while ((await cluster.resource(query, signal)) === undefined && Date.now() < deadline) {
    await systemClock.sleep(100, signal);
  }
  const found = await cluster.list(query, signal);
  if (found.length > 0) {
    throw new Error(`${found.length} Kustomizations are in this cluster already: Flux needs one of its own`);
  }
}

interface Common {
  readonly controllers: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

async function start(name: string, { controllers, folder, env }: Common, args: string[]): Promise<() => Promise<void>> {
  await using log = await open(join(folder, `${name}.log`), "a");
  const child = spawn(join(controllers, name), args, { env, stdio: ["ignore", log.fd, log.fd] });
  await once(child, "spawn");
  const ended = once(child, "exit");
  return async () => {
    child.kill("SIGTERM");
    await ended;
  };
}
