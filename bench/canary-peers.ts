import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import { connect } from "../lib/kube/connect.ts";
import { readKubeconfig } from "../lib/kube/kubeconfig.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { spawnLocal } from "../local/sluice-process.ts";
import {
  type BuiltFlagger,
  builtFlagger,
  installFlaggerDefinitions,
  startFlagger,
} from "../test/interop/flagger/start-flagger.ts";
import { mayHaveOwnControlPlane, ownControlPlane } from "../test/real/own-control-plane.ts";
import { type AuditLog, auditLog } from "./audit-log.ts";
import { applyCanaries, prometheus } from "./canary-load.ts";

const namespace = "default";
/** More than it needs, so that its own machine is the only bound. */
const raisedLimits = ["-kubeconfig-qps=10000", "-kubeconfig-burst=20000"];

/** Who releases the Canaries: a process of its own, and nothing else of its user. */
export interface Releaser extends AsyncDisposable {
  readonly pid: number;
}

/** A control plane of its own with the definitions of Flagger and of the Gateway API, Canaries that are new to both, and a Prometheus. */
export interface World {
  /** How many Canaries. */
  readonly count: number;
  readonly cluster: Cluster;
  /** Of the user `sluice`, which only the releaser uses. */
  readonly kubeconfig: string;
  readonly audit: AuditLog;
  readonly metricsServer: string;
  readonly folder: string;
}

/**
 * Flagger, if it is here with the real parts. Otherwise undefined, and says what is missing: see test/interop/flagger/README.md.
 */
export async function flaggerToMeasure(bench: string): Promise<BuiltFlagger | undefined> {
  const built = await builtFlagger();
  if (built !== undefined && mayHaveOwnControlPlane()) return built;
  const why = built === undefined ? "SLUICE_FLAGGER names no Flagger" : "SLUICE_REAL_KUBECONFIG names no control plane";
  process.stderr.write(`${bench} is left out: ${why}\n`);
  return undefined;
}

/** Flagger as it is released, with the default limits of its client for Kubernetes or with such that it never reaches. */
export function flagger(built: BuiltFlagger, limits: "default" | "raised", world: World): Promise<Releaser> {
  const { folder, kubeconfig, metricsServer } = world;
  const flags = ["-mesh-provider=gatewayapi:v1", `-metrics-server=${metricsServer}`];
  const log = join(folder, "flagger.log");
  return startFlagger({
    ...{ ...built, kubeconfig, namespace, log },
    flags: limits === "raised" ? [...flags, ...raisedLimits] : flags,
  });
}

/** `sluice local` as a user starts it, with the same settings. */
export async function sluice({ folder, kubeconfig, metricsServer }: World): Promise<Releaser> {
  const settings = join(folder, "settings.json");
  await writeFile(settings, JSON.stringify({ "mesh-provider": "gatewayapi:v1", "metrics-server": metricsServer }));
  const args = ["--state", join(folder, "state"), "--kubeconfig", kubeconfig, "--config", settings];
  const local = await spawnLocal(args, new AbortController().signal);
  return { pid: local.pid, [Symbol.asyncDispose]: async () => void (await local.end("SIGTERM")) };
}

const Definition = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});

/** A fresh control plane, which goes with `open`. */
export async function freshWorld({ crds }: BuiltFlagger, count: number, open: AsyncDisposableStack): Promise<World> {
  const signal = AbortSignal.timeout(Math.max(120_000, count * 600));
  const plane = open.use(await ownControlPlane());
  const folder = await mkdtemp(join(tmpdir(), "sluice-canary-peer-"));
  open.defer(() => rm(folder, { recursive: true, force: true }));
  const config = await readKubeconfig({ file: plane.adminKubeconfig, env: {}, homeDir: homedir() });
  const cluster = connect(config, { clock: systemClock, env: {} });
  open.defer(() => cluster.close());
  const routes = await readFile(join(import.meta.dirname, "../local/demo/gateway-api/httproutes.json"), "utf8");
  await cluster.apply(Definition.parse(JSON.parse(routes)), { manager: "bench", force: true }, signal);
  await installFlaggerDefinitions(crds, cluster, signal);
  await applyCanaries(count, cluster, signal);
  const metricsServer = await prometheus(open);
  return { count, cluster, kubeconfig: plane.kubeconfig, audit: auditLog(plane.audit), metricsServer, folder };
}
