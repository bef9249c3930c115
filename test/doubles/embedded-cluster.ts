import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Kubernetes, startKubernetes } from "@sluice/embedded-kubernetes";
import { installCrds } from "../../lib/definitions/install-crds.ts";
import type { ApiDeps } from "../../lib/kube/api-client.ts";
import { type ConnectedCluster, connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { silentLog } from "./silent-log.ts";

export interface EmbeddedCluster extends AsyncDisposable {
  readonly server: Kubernetes;
  /** A kubeconfig of the user who may do everything. */
  readonly kubeconfig: string;
  readonly cluster: ConnectedCluster;
}

export interface EmbeddedClusterOptions {
  /** Sluice's definitions are installed unless false. */
  readonly definitions?: boolean;
  /** Controllers run unless false: then a test says itself what becomes of a Job or a Pod. */
  readonly controllers?: boolean;
  readonly observe?: ApiDeps["observe"];
}

/** The embedded API server with controllers, and a client of it. Its objects are in memory: a test that restarts it starts its own. */
export async function embeddedCluster({
  definitions = true,
  ...options
}: EmbeddedClusterOptions = {}): Promise<EmbeddedCluster> {
  const database = new DatabaseSync(":memory:");
  if (definitions) {
    installed ??= installDefinitions().catch((error: unknown) => {
      // The next cluster tries again.
      installed = undefined;
      throw error;
    });
    database.deserialize(await installed);
  }
  return startOn(database, options);
}

/** To install them takes a third of a second of processor time, so each thread of tests does it once: each cluster begins with a copy. */
let installed: Promise<Uint8Array> | undefined;

/** A database with Sluice's definitions and nothing else: each cluster makes its own namespaces, which have its identity. */
async function installDefinitions(): Promise<Uint8Array> {
  const database = new DatabaseSync(":memory:");
  await using first = await startOn(database, { controllers: false });
  await installCrds(first.cluster, { clock: systemClock, log: silentLog }, new AbortController().signal);
  database.exec("DELETE FROM objects WHERE resource <> 'apiextensions.k8s.io/customresourcedefinitions'");
  return database.serialize();
}

async function startOn(
  database: DatabaseSync,
  { controllers = true, observe }: Omit<EmbeddedClusterOptions, "definitions">,
): Promise<EmbeddedCluster> {
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "sluice-cluster-"));
  opening.defer(() => rm(folder, { recursive: true, force: true }));
  const server = await startKubernetes({
    stateFolder: folder,
    controllers,
    log: silentLog,
    openDatabase: () => database,
  });
  opening.defer(() => server.close());
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, server.kubeconfig());
  const options = { clock: systemClock, env: {}, ...(observe === undefined ? {} : { observe }) };
  const cluster = connect(await readKubeconfig({ file: kubeconfig, env: {}, homeDir: folder }), options);
  opening.defer(() => cluster.close());
  const open = opening.move();
  return { server, kubeconfig, cluster, [Symbol.asyncDispose]: () => open.disposeAsync() };
}
