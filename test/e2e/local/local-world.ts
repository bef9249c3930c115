import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../../lib/core/failure.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import type { Http } from "../../../lib/core/ports/http.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { pushArtifact } from "../../../lib/sources/oci/push-artifact.ts";
import { registryClients } from "../../../lib/sources/oci/registry-client.ts";
import { type SpawnedLocal, spawnLocal } from "../../../local/sluice-process.ts";
import { deadlineMs } from "../../deadline.ts";
import { onFreePorts } from "../../real/free-ports.ts";

const { signal } = new AbortController();

/** `sluice local` as a process that can be killed and started again on the same folder, and a user's ways to it. */
export interface LocalWorld extends AsyncDisposable {
  readonly folder: string;
  readonly state: string;
  /** What all that were started wrote to standard error. */
  readonly log: readonly string[];
  /** Calls `listener` with every further line of the log, until it answers true. */
  watchLog(listener: (line: string) => boolean): void;
  /** Starts it; with the ports of the last time. */
  start(...args: readonly string[]): Promise<SpawnedLocal>;
  cluster(local: Pick<SpawnedLocal, "kubeconfig">): Promise<Cluster>;
  /** Pushes these manifests as one file. */
  push(local: Pick<SpawnedLocal, "registry">, manifests: readonly Manifest[]): Promise<string>;
}

export async function localWorld(): Promise<LocalWorld> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-local-"));
  const state = join(folder, "state");
  const http = httpClient({ network: homeNetwork });
  // The product's own limits end a push to a registry that a busy machine keeps from answering.
  const patient: Http = { send: (request, stop) => http.send({ ...request, timeoutMs: deadlineMs }, stop) };
  const started: SpawnedLocal[] = [];
  const log: string[] = [];
  const clusters: { close(): void }[] = [];
  let listening: ((line: string) => boolean) | undefined;
  return {
    folder,
    state,
    log,
    async start(...args) {
      // Later starts take those of the first, as nothing else did meanwhile; sources and kubeconfigs name them.
      const begin = (ports: readonly string[]): Promise<SpawnedLocal> =>
        spawnLocal(["--state", state, ...ports, ...args], signal, (line) => {
          log.push(line);
          if (listening?.(line) === true) listening = undefined;
        });
      const local =
        started.length > 0 ? await begin([]) : await onFreePorts(3, (ports) => begin(portArguments(ports)), isTaken);
      started.push(local);
      return local;
    },
    watchLog: (listener) => {
      listening = listener;
    },
    async cluster({ kubeconfig }) {
      const config = await readKubeconfig({ file: kubeconfig, env: {}, homeDir: homedir() });
      const cluster = connect(config, { clock: systemClock, env: {} });
      clusters.push(cluster);
      return cluster;
    },
    async push({ registry }, manifests) {
      const path = join(folder, "artifact");
      await mkdir(path, { recursive: true });
      await writeFile(
        join(path, "all.yaml"),
        manifests.map((manifest) => `---\n${JSON.stringify(manifest)}\n`).join(""),
      );
      const clients = registryClients(patient, systemClock);
      const artifact = { url: `oci://${registry}/app:v1`, path, source: "https://example.test", revision: "v1" };
      const { digest } = await pushArtifact(artifact, ({ host }) => clients({ host, insecure: true }), signal);
      return digest;
    },
    async [Symbol.asyncDispose]() {
      for (const cluster of clusters) cluster.close();
      await Promise.all(started.map((local) => local.end("SIGKILL")));
      http.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const portArguments = ([api, registry, receiver]: readonly number[]): readonly string[] => [
  ...["--api-port", `${api}`],
  ...["--registry-port", `${registry}`],
  ...["--receiver-port", `${receiver}`],
];

/** It names the port that it could not have. */
const isTaken = (error: unknown, ports: readonly number[]): boolean =>
  ports.some((port) => messageOf(error).includes(`127.0.0.1:${port}: `));

/** Applies an OCIRepository of the embedded registry's `app:v1` and a Kustomization of it, both named `app`. */
export async function followApp(cluster: Cluster, { registry }: Pick<SpawnedLocal, "registry">): Promise<void> {
  const metadata = { name: "app", namespace: "default" };
  const source = { interval: "1h", url: `oci://${registry}/app`, ref: { tag: "v1" }, insecure: true };
  const spec = { interval: "1h", path: ".", prune: true, sourceRef: { kind: "OCIRepository", name: "app" } };
  const options = { manager: "test", force: false };
  await cluster.apply(
    { apiVersion: "source.toolkit.fluxcd.io/v1", kind: "OCIRepository", metadata, spec: source },
    options,
    signal,
  );
  await cluster.apply(
    { apiVersion: "kustomize.toolkit.fluxcd.io/v1", kind: "Kustomization", metadata, spec },
    options,
    signal,
  );
}

export function configMap(name: string, value: string): Manifest {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" }, data: { value } };
}

/** Names and values of the config maps that Sluice made, sorted. */
export async function applied(cluster: Cluster): Promise<readonly string[]> {
  const query = { group: "", version: "v1", kind: "ConfigMap", namespace: "default" };
  const labelSelector = "kustomize.toolkit.fluxcd.io/name=app";
  const maps = await cluster.list({ ...query, labelSelector }, signal);
  return maps.map((map) => `${map.metadata.name}=${valueOf(map)}`).toSorted();
}

function valueOf({ data }: LiveObject): string {
  return typeof data === "object" && data !== null ? String(Reflect.get(data, "value")) : "";
}
