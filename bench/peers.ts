import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { declaredKinds } from "../lib/api/kinds/declared-kinds.ts";
import type { JsonObject } from "../lib/core/json.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { homeNetwork } from "../lib/core/network/network-policy.ts";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import type { Http } from "../lib/core/ports/http.ts";
import { httpClient } from "../lib/http/http-client.ts";
import { connect } from "../lib/kube/connect.ts";
import { readKubeconfig } from "../lib/kube/kubeconfig.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { startRegistry } from "../local/registry/start-registry.ts";
import { spawnLocal } from "../local/sluice-process.ts";
import { silentLog } from "../test/doubles/silent-log.ts";
import { pushFiles } from "../test/e2e/recorded-flux/push-files.ts";
import { type FlagsOfControllers, startWholeFlux } from "../test/interop/fleet/start-whole-flux.ts";
import { type BuiltFlux, builtFluxWith, fluxControllers } from "../test/interop/flux-recorder/built-flux.ts";
import { mayHaveOwnControlPlane, ownControlPlane } from "../test/real/own-control-plane.ts";
import { type AuditLog, auditLog } from "./audit-log.ts";
import { type Used, watchUse } from "./process-memory.ts";

export const namespace = "default";
const lookAgainMs = 10;
const patienceMs = 120_000;

/** The controller that follows the registry in this round. */
export interface Peer {
  readonly name: string;
  readonly cluster: Cluster;
  readonly http: Http;
  readonly registry: string;
  /** Flux checks at its interval or on request; Sluice is notified of a push. */
  readonly hearsPushes: boolean;
  /** Where it takes webhooks, if it does: `http://127.0.0.1:PORT`. */
  readonly receiver: string;
  /** Its processes by name: one for each controller of Flux, or that of `sluice local`. */
  readonly processes: Readonly<Record<string, number>>;
  /** The requests of its user `sluice`, which nothing else uses. */
  readonly audit: AuditLog;
}

/** What a bench needs of both. */
interface Needed {
  /** The name of the bench. */
  readonly bench: string;
  /** Flux's controllers, each with flags beside those of its Deployment. */
  readonly flux: FlagsOfControllers;
  /** Settings of Sluice, as `--config` takes them. */
  readonly settings?: JsonObject;
}

/** source-controller and kustomize-controller as they are released. */
export const applyingControllers: FlagsOfControllers = { "source-controller": [], "kustomize-controller": [] };

/**
 * Measures beside real Flux, then beside Sluice, each on a fresh control plane. Needs the real parts, and a build of Flux's controllers
 * (test/interop/flux-recorder/build-flux.ts, with `--all` if others than source-controller and kustomize-controller are needed).
 *
 * @returns undefined, and says why, if one of them is not here
 */
export async function besideBoth<Measured>(
  needed: Needed,
  measure: (peer: Peer) => Promise<Measured>,
): Promise<{ readonly flux: Measured; readonly sluice: Measured } | undefined> {
  const names = fluxControllers.filter((name) => needed.flux[name] !== undefined);
  const flux = await builtFluxWith(names);
  if (flux === undefined || !mayHaveOwnControlPlane()) {
    const why =
      flux === undefined
        ? `no variable names a build of Flux with ${names.join(", ")} (test/interop/flux-recorder/build-flux.ts --all)`
        : "SLUICE_REAL_KUBECONFIG names no control plane";
    process.stderr.write(`${needed.bench} is left out: ${why}\n`);
    return undefined;
  }
  return { flux: await besideFlux(flux, needed, measure), sluice: await besideSluice(needed, measure) };
}

async function besideFlux<Measured>(
  built: BuiltFlux,
  { flux: flags }: Needed,
  measure: (peer: Peer) => Promise<Measured>,
): Promise<Measured> {
  const signal = AbortSignal.timeout(600_000);
  await using open = new AsyncDisposableStack();
  const { folder, kubeconfig, ...world } = await freshWorld(open);
  const onPush = (): void => undefined;
  const registry = await startRegistry({ folder: join(folder, "registry"), port: 0, log: silentLog, onPush });
  open.defer(() => registry.close());
  const flux = open.use(await startWholeFlux({ ...built, flags, kubeconfig, folder, cluster: world.cluster }, signal));
  const { receiver, processes } = flux;
  return await measure({ name: "Flux", ...world, receiver, processes, registry: registry.address, hearsPushes: false });
}

async function besideSluice<Measured>(
  { settings = {} }: Needed,
  measure: (peer: Peer) => Promise<Measured>,
): Promise<Measured> {
  await using open = new AsyncDisposableStack();
  const { folder, kubeconfig, ...world } = await freshWorld(open);
  const config = join(folder, "settings.json");
  await writeFile(config, JSON.stringify(settings));
  const args = ["--state", join(folder, "state"), "--kubeconfig", kubeconfig, "--config", config];
  const local = await spawnLocal(args, new AbortController().signal);
  open.defer(async () => void (await local.end("SIGTERM")));
  const { registry, receiver, pid } = local;
  return await measure({ name: "Sluice", ...world, receiver, processes: { sluice: pid }, registry, hearsPushes: true });
}

/** A control plane, clients of its administrator, and an empty folder, which all go with `open`. */
async function freshWorld(open: AsyncDisposableStack) {
  const plane = open.use(await ownControlPlane());
  const folder = await mkdtemp(join(tmpdir(), "sluice-peer-"));
  open.defer(() => rm(folder, { recursive: true, force: true }));
  const clients = await client(plane.adminKubeconfig, open);
  return { folder, kubeconfig: plane.kubeconfig, audit: auditLog(plane.audit), ...clients };
}

async function client(kubeconfig: string, open: AsyncDisposableStack): Promise<{ cluster: Cluster; http: Http }> {
  const config = await readKubeconfig({ file: kubeconfig, env: {}, homeDir: homedir() });
  const cluster = connect(config, { clock: systemClock, env: {} });
  open.defer(() => cluster.close());
  const http = httpClient({ network: homeNetwork });
  open.defer(() => http.close());
  return { cluster, http };
}

type Kind = (typeof declaredKinds)[number]["kind"];

/** The kind as both serve it. */
export function served(kind: Kind): { readonly group: string; readonly version: string; readonly kind: Kind } {
  const declared = declaredKinds.find((one) => one.kind === kind);
  if (declared === undefined) throw new Error(`${kind} is not declared`);
  return { group: declared.group, version: declared.versions[0], kind };
}

export async function push(
  { http, registry }: Peer,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  return pushFiles(`oci://${registry}/${name}:v1`, files, http, AbortSignal.timeout(patienceMs));
}

export async function apply({ cluster }: Peer, kind: Kind, name: string, spec: JsonObject): Promise<void> {
  const { group, version } = served(kind);
  const manifest = { apiVersion: `${group}/${version}`, kind, metadata: { name, namespace }, spec };
  await cluster.apply(manifest, { manager: "bench", force: true }, AbortSignal.timeout(patienceMs));
}

/** The request of `flux reconcile`. */
export async function request({ cluster }: Peer, kind: Kind, name: string): Promise<string> {
  const value = String(performance.now());
  const body = { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": value } } };
  const ref = { ...served(kind), namespace, name };
  await cluster.patch(ref, { type: "merge", body }, { manager: "bench" }, AbortSignal.timeout(patienceMs));
  return value;
}

export async function until(
  { cluster }: Peer,
  kind: Kind,
  name: string,
  holds: (live: LiveObject) => boolean,
): Promise<void> {
  const signal = AbortSignal.timeout(patienceMs);
  const ref = { ...served(kind), namespace, name };
  for (;;) {
    const live = await cluster.get(ref, signal);
    if (live !== undefined && holds(live)) return;
    await systemClock.sleep(lookAgainMs, signal);
  }
}

export async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** How long work took, and what each process of the peer has used for it. */
export interface Cost {
  readonly ms: number;
  readonly used: Readonly<Record<string, Used>>;
}

export async function costOf({ processes }: Peer, work: () => Promise<void>): Promise<Cost> {
  const watched = Object.entries(processes).map(([name, pid]) => [name, watchUse(pid)] as const);
  const ms = await timed(work);
  return { ms, used: Object.fromEntries(watched.map(([name, end]) => [name, end()])) };
}
