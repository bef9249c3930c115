import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { findCondition } from "../lib/api/condition.ts";
import { parseKustomization } from "../lib/api/kustomization.ts";
import type { JsonObject } from "../lib/core/json.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { homeNetwork } from "../lib/core/network/network-policy.ts";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import type { Http } from "../lib/core/ports/http.ts";
import { systemClock } from "../lib/core/system-clock.ts";
import { httpClient } from "../lib/http/http-client.ts";
import { connect } from "../lib/kube/connect.ts";
import { readKubeconfig } from "../lib/kube/kubeconfig.ts";
import { startRegistry } from "../local/registry/start-registry.ts";
import { startSluiceProcess } from "../local/sluice-process.ts";
import { silentLog } from "../test/doubles/silent-log.ts";
import { pushFiles } from "../test/e2e/recorded-flux/push-files.ts";
import { type BuiltFlux, builtFlux } from "../test/interop/flux-recorder/built-flux.ts";
import { startFlux } from "../test/interop/flux-recorder/start-flux.ts";
import { mayHaveOwnControlPlane, ownControlPlane } from "../test/real/own-control-plane.ts";
import { type Figure, figure } from "./figure.ts";

const example = join(import.meta.dirname, "../examples/oddy-test/manifests");
const namespace = "default";
const lookAgainMs = 10;
const patienceMs = 120_000;
const manyObjects = 500;
const sizes = [
  { title: "four objects", source: "few", rounds: 5 },
  { title: "500 objects", source: "many", rounds: 3 },
] as const;

/** Who follows the registry in this round. */
interface Peer {
  readonly name: string;
  readonly cluster: Cluster;
  readonly http: Http;
  readonly registry: string;
  /** Flux looks at its interval or when it is asked; Sluice hears of a push. */
  readonly hearsPushes: boolean;
}

/**
 * Real Flux and Sluice on the same kind of control plane, one after the other, each on a fresh one: wall time from a push, or from
 * the request, to Ready as a client of the API server sees it. Needs the real parts, and Flux's controllers and definitions
 * in the folders that SLUICE_FLUX_CONTROLLERS and SLUICE_FLUX_CRDS name (test/interop/flux-recorder/README.md).
 */
export async function fluxPeer(): Promise<readonly Figure[]> {
  const flux = await builtFlux();
  if (flux === undefined || !mayHaveOwnControlPlane()) {
    const why =
      flux === undefined ? "SLUICE_FLUX_CONTROLLERS names no Flux" : "SLUICE_REAL_KUBECONFIG names no control plane";
    process.stderr.write(`fluxPeer is left out: ${why}\n`);
    return [];
  }
  return [...(await besideFlux(flux)), ...(await besideSluice())];
}

async function besideFlux({ controllers, crds }: BuiltFlux): Promise<readonly Figure[]> {
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

async function besideSluice(): Promise<readonly Figure[]> {
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

async function measure(peer: Peer): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { title, source, rounds } of sizes) {
    const times = { "first apply": [], "push to Ready": [], unchanged: [] } satisfies Record<string, number[]>;
    const seen: Record<keyof typeof times, number[]> = times;
    for (let round = 0; round < rounds; round++) {
      const name = `${source}-${round}`;
      const first = await push(peer, name, await filesOf(source, "1"));
      await apply(peer, "OCIRepository", name, {
        interval: "1h",
        url: `oci://${peer.registry}/${name}`,
        insecure: true,
        ref: { tag: "v1" },
      });
      await until(peer, "OCIRepository", name, (live) => JSON.stringify(live["status"]).includes(first));
      seen["first apply"].push(
        await timed(async () => {
          const spec = { interval: "1h", prune: true, path: "./", sourceRef: { kind: "OCIRepository", name } };
          await apply(peer, "Kustomization", name, { ...spec, namePrefix: `${name}-` });
          await ready(peer, name, first);
        }),
      );
      seen["push to Ready"].push(
        await timed(async () => {
          const second = await push(peer, name, await filesOf(source, "2"));
          if (!peer.hearsPushes) await request(peer, "OCIRepository", name);
          await ready(peer, name, second);
        }),
      );
      seen.unchanged.push(
        await timed(async () => {
          const value = await request(peer, "Kustomization", name);
          await until(peer, "Kustomization", name, (live) =>
            JSON.stringify(live["status"]).includes(`"lastHandledReconcileAt":"${value}"`),
          );
        }),
      );
    }
    for (const [moment, samples] of Object.entries(seen)) {
      figures.push(figure(`${title}, ${moment}, ${peer.name} on a control plane`, "ms", samples));
    }
  }
  return figures;
}

const groups = { OCIRepository: "source.toolkit.fluxcd.io", Kustomization: "kustomize.toolkit.fluxcd.io" } as const;
type Kind = keyof typeof groups;

async function push({ http, registry }: Peer, name: string, files: Readonly<Record<string, string>>): Promise<string> {
  return pushFiles(`oci://${registry}/${name}:v1`, files, http, AbortSignal.timeout(patienceMs));
}

async function apply({ cluster }: Peer, kind: Kind, name: string, spec: JsonObject): Promise<void> {
  const manifest = { apiVersion: `${groups[kind]}/v1`, kind, metadata: { name, namespace }, spec };
  await cluster.apply(manifest, { manager: "bench", force: true }, AbortSignal.timeout(patienceMs));
}

/** As `flux reconcile` asks. */
async function request({ cluster }: Peer, kind: Kind, name: string): Promise<string> {
  const value = String(performance.now());
  const body = { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": value } } };
  const ref = { group: groups[kind], version: "v1", kind, namespace, name };
  await cluster.patch(ref, { type: "merge", body }, { manager: "bench" }, AbortSignal.timeout(patienceMs));
  return value;
}

function ready(peer: Peer, name: string, digest: string): Promise<void> {
  return until(peer, "Kustomization", name, (live) => {
    const condition = findCondition(parseKustomization(live).status.conditions ?? [], "Ready");
    return condition?.status === "True" && condition.message.endsWith(digest);
  });
}

async function until({ cluster }: Peer, kind: Kind, name: string, holds: (live: LiveObject) => boolean): Promise<void> {
  const signal = AbortSignal.timeout(patienceMs);
  const ref = { group: groups[kind], version: "v1", kind, namespace, name };
  for (;;) {
    const live = await cluster.get(ref, signal);
    if (live !== undefined && holds(live)) return;
    await systemClock.sleep(lookAgainMs, signal);
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** The example of the README, or many small objects; every value is another in the next revision. */
async function filesOf(source: "few" | "many", revision: string): Promise<Readonly<Record<string, string>>> {
  if (source === "few") {
    const texts = await Promise.all((await readdir(example)).map((file) => readFile(join(example, file), "utf8")));
    const changed = (text: string) =>
      text.replaceAll(/^( {2}namespace: .*)$/gm, `$1\n  annotations: {bench: "${revision}"}`);
    return Object.fromEntries(texts.map((text, index) => [`${index}.yaml`, changed(text)]));
  }
  const names = Array.from({ length: manyObjects }, (_, index) => `many-${index}`);
  return Object.fromEntries(
    names.map((name) => [
      `${name}.yaml`,
      JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { revision } }),
    ]),
  );
}
