import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import type { BuiltFlux, FluxController } from "../flux-recorder/built-flux.ts";
import { installDefinitions, startController, until } from "../flux-recorder/start-flux.ts";

/** The controllers to start, each with flags beside those of its Deployment. */
export type FlagsOfControllers = Readonly<Partial<Record<FluxController, readonly string[]>>>;

interface WholeFluxOptions extends BuiltFlux {
  readonly kubeconfig: string;
  /** For artifacts, temporary files and logs: an empty one for each start. */
  readonly folder: string;
  readonly cluster: Cluster;
  /** By default all six. */
  readonly flags?: FlagsOfControllers;
  /** Further variables of all of them. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Flux's controllers. Their end is that of Deployments that are scaled to 0. */
export interface WholeFlux extends AsyncDisposable {
  /** Where notification-controller takes webhooks: `http://127.0.0.1:PORT`. */
  readonly receiver: string;
  /** Where notification-controller takes events, if it runs: `http://127.0.0.1:PORT/`. */
  readonly events: string;
  /** The process of each controller. */
  readonly processes: Readonly<Record<string, number>>;
}

// As Flux's example has it: by default a Kustomization looks at its dependencies every 30 s.
const soon = ["--requeue-dependency=5s"];
const allSix: FlagsOfControllers = {
  "notification-controller": [],
  "source-controller": [],
  "image-reflector-controller": [],
  "image-automation-controller": [],
  "helm-controller": soon,
  "kustomize-controller": soon,
};

/**
 * Runs them as processes with the flags of their Deployments, in the order of `docs/moving-from-flux.md`: notification-controller, to which
 * the others send their events, then source-controller, and the rest once it serves every artifact itself.
 */
export async function startWholeFlux(
  { controllers, crds, kubeconfig, folder, cluster, flags = allSix, env = {} }: WholeFluxOptions,
  signal: AbortSignal,
): Promise<WholeFlux> {
  await installDefinitions(crds, cluster, signal);
  const [storage, images, scratch] = ["storage", "images", "scratch"].map((name) => join(folder, name));
  if (storage === undefined || images === undefined || scratch === undefined) throw new Error("no folders");
  await Promise.all([storage, images, scratch].map((path) => mkdir(path, { recursive: true })));
  const common = { controllers, folder, env: { ...env, KUBECONFIG: kubeconfig, TMPDIR: scratch, HOME: scratch } };
  await using running = new AsyncDisposableStack();
  const processes: Record<string, number> = {};
  const start = async (name: FluxController, args: (ports: readonly [number, number]) => readonly string[]) => {
    const further = flags[name];
    if (further === undefined) return [0, 0] as const;
    const { ports, pid } = await startController(running, name, common, (two) => [...args(two), ...further], signal);
    processes[name] = pid;
    return ports;
  };
  const [events, hooks] = await start("notification-controller", ([one, other]) => [
    `--events-addr=127.0.0.1:${one}`,
    `--receiverAddr=127.0.0.1:${other}`,
  ]);
  const telling = events === 0 ? [] : [`--events-addr=http://127.0.0.1:${events}/`];
  const [artifacts] = await start("source-controller", ([port]) => [
    ...telling,
    `--storage-path=${storage}`,
    `--storage-addr=127.0.0.1:${port}`,
    `--storage-adv-addr=127.0.0.1:${port}`,
  ]);
  if (artifacts !== 0) await untilServedFrom(`http://127.0.0.1:${artifacts}/`, cluster, signal);
  await start("image-reflector-controller", () => [...telling, `--storage-path=${images}`]);
  for (const name of ["image-automation-controller", "helm-controller", "kustomize-controller"] as const) {
    await start(name, () => telling);
  }
  const all = running.move();
  return {
    receiver: `http://127.0.0.1:${hooks}`,
    events: `http://127.0.0.1:${events}/`,
    processes,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

const WithArtifact = z.object({
  status: z.object({ artifact: z.object({ url: z.string() }).optional() }).optional(),
});

/** Without this kustomize-controller would try for 3.5 minutes to fetch an artifact of Sluice. */
async function untilServedFrom(artifacts: string, cluster: Cluster, signal: AbortSignal): Promise<void> {
  const kinds = declaredKinds.filter(({ isSource }) => isSource);
  let others: readonly string[] = [];
  const isServed = async (): Promise<boolean> => {
    const lists = kinds.map(({ group, kind, versions: [version] }) => cluster.list({ group, version, kind }, signal));
    const urls = (await Promise.all(lists)).flat().map((live) => WithArtifact.parse(live).status?.artifact?.url);
    others = urls.filter((url): url is string => url !== undefined && !url.startsWith(artifacts));
    return others.length === 0;
  };
  await until(isServed, () => `source-controller does not serve ${others.join(", ")}`, signal);
}
