import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
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
import { startSluiceProcess } from "../local/sluice-process.ts";
import { silentLog } from "../test/doubles/silent-log.ts";
import { pushFiles } from "../test/e2e/recorded-flux/push-files.ts";
import { type BuiltFlux, builtFlux } from "../test/interop/flux-recorder/built-flux.ts";
import { startFlux } from "../test/interop/flux-recorder/start-flux.ts";
import { mayHaveOwnControlPlane, ownControlPlane } from "../test/real/own-control-plane.ts";

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
}

/**
 * Measures beside real Flux, then beside Sluice, each on a fresh control plane. Needs the real parts, and Flux's controllers and
 * definitions in the folders that SLUICE_FLUX_CONTROLLERS and SLUICE_FLUX_CRDS name (test/interop/flux-recorder/README.md).
 *
 * @returns undefined, and says why, if one of them is not here
 */
export async function besideBoth<Measured>(
  bench: string,
  measure: (peer: Peer) => Promise<Measured>,
): Promise<{ readonly flux: Measured; readonly sluice: Measured } | undefined> {
  const flux = await builtFlux();
  if (flux === undefined || !mayHaveOwnControlPlane()) {
    const why =
      flux === undefined ? "SLUICE_FLUX_CONTROLLERS names no Flux" : "SLUICE_REAL_KUBECONFIG names no control plane";
    process.stderr.write(`${bench} is left out: ${why}\n`);
    return undefined;
  }
  return { flux: await besideFlux(flux, measure), sluice: await besideSluice(measure) };
}

async function besideFlux<Measured>(
  { controllers, crds }: BuiltFlux,
  measure: (peer: Peer) => Promise<Measured>,
): Promise<Measured> {
  const signal = AbortSignal.timeout(600_000);
  await using open = new AsyncDisposableStack();
  const plane = open.use(await ownControlPlane());
  const folder = await mkdtemp(join(tmpdir(), "sluice-peer-"));
  open.defer(() => rm(folder, { recursive: true, force: true }));
  const { cluster, http } = await client(plane.adminKubeconfig, open);
  const onPush = (): void => undefined;
  const registry = await startRegistry({ folder: join(folder, "registry"), port: 0, log: silentLog, onPush });
  open.defer(() => registry.close());
  open.use(await startFlux({ controllers, crds, kubeconfig: plane.adminKubeconfig, folder, cluster }, signal));
  return await measure({ name: "Flux", cluster, http, registry: registry.address, hearsPushes: false });
}

async function besideSluice<Measured>(measure: (peer: Peer) => Promise<Measured>): Promise<Measured> {
  await using open = new AsyncDisposableStack();
  const plane = open.use(await ownControlPlane());
  const { cluster, http } = await client(plane.adminKubeconfig, open);
  const folder = await mkdtemp(join(tmpdir(), "sluice-peer-"));
  open.defer(() => rm(folder, { recursive: true, force: true }));
  const args = ["--state", join(folder, "state"), "--kubeconfig", plane.kubeconfig];
  const sluice = await startSluiceProcess(args, AbortSignal.timeout(patienceMs));
  open.defer(async () => void (await sluice.stop()));
  return await measure({ name: "Sluice", cluster, http, registry: sluice.ready.registry, hearsPushes: true });
}

async function client(kubeconfig: string, open: AsyncDisposableStack): Promise<{ cluster: Cluster; http: Http }> {
  const config = await readKubeconfig({ file: kubeconfig, env: {}, homeDir: homedir() });
  const cluster = connect(config, { clock: systemClock, env: {} });
  open.defer(() => cluster.close());
  const http = httpClient({ network: homeNetwork });
  open.defer(() => http.close());
  return { cluster, http };
}

const groups = { OCIRepository: "source.toolkit.fluxcd.io", Kustomization: "kustomize.toolkit.fluxcd.io" } as const;
type Kind = keyof typeof groups;

export async function push(
  { http, registry }: Peer,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  return pushFiles(`oci://${registry}/${name}:v1`, files, http, AbortSignal.timeout(patienceMs));
}

export async function apply({ cluster }: Peer, kind: Kind, name: string, spec: JsonObject): Promise<void> {
  const manifest = { apiVersion: `${groups[kind]}/v1`, kind, metadata: { name, namespace }, spec };
  await cluster.apply(manifest, { manager: "bench", force: true }, AbortSignal.timeout(patienceMs));
}

/** The request of `flux reconcile`. */
export async function request({ cluster }: Peer, kind: Kind, name: string): Promise<string> {
  const value = String(performance.now());
  const body = { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": value } } };
  const ref = { group: groups[kind], version: "v1", kind, namespace, name };
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
  const ref = { group: groups[kind], version: "v1", kind, namespace, name };
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
