import { homedir } from "node:os";
import { readKinds } from "../lib/api/kinds/declared-kinds.ts";
import { messageOf } from "../lib/core/failure.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import { asHome, asTarget, type TargetCluster } from "../lib/core/ports/home-and-target.ts";
import type { Log } from "../lib/core/ports/log.ts";
import { GateClosed } from "../lib/core/ports/write-gate.ts";
import { areServed, installCrds } from "../lib/definitions/install-crds.ts";
import type { Kind } from "../lib/flows/kinds/kind.ts";
import { ownerCheck, takeOver } from "../lib/gate/cluster-owner.ts";
import { gatedCluster } from "../lib/gate/gated-cluster.ts";
import type { ServedCluster } from "../lib/gate/served-clusters.ts";
import { writeGate } from "../lib/gate/write-gate.ts";
import type { SentRequest } from "../lib/kube/api-client.ts";
import type { ClusterConfig } from "../lib/kube/cluster-config.ts";
import { connect } from "../lib/kube/connect.ts";
import { readKubeconfig } from "../lib/kube/kubeconfig.ts";
import { ownInstallation, type Reach } from "./own-installation.ts";
import { refuseBesideFlux } from "./refuse-beside-flux.ts";
import type { StateFolder } from "./state-folder.ts";

/** A cluster to work on, as the user has named it. */
export interface ClusterEntry extends Reach {
  /** In the log and in the ready lines; no other entry has it. */
  readonly name: string;
}

export interface OpenDeps {
  readonly state: Pick<StateFolder, "path" | "installationKey">;
  readonly kinds: readonly Kind[];
  /** The environment that credential plugins of a kubeconfig inherit. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Where webhooks come in. */
  readonly receiver: string;
  /** The log of this cluster alone. */
  readonly log: Log;
  readonly observe?: ((request: SentRequest) => void) | undefined;
  /** Called with the cluster's id before anything is written to it; what it throws ends the opening. */
  readonly onId: (id: string) => void;
}

/** A cluster that this process may work on. */
export interface OpenCluster extends ServedCluster {
  readonly log: Log;
  close(): void;
}

/** The cluster of an entry, read from its kubeconfig each time. Throws one clear error that names file and field. */
export function configOf({ file, context }: Reach, env: OpenDeps["env"]): Promise<ClusterConfig> {
  return readKubeconfig({ file, ...(context === undefined ? {} : { context }), env, homeDir: homedir() });
}

/**
 * Connects to a cluster, makes sure that it belongs to this installation and that no Flux works on it, and installs the
 * definitions. Throws one clear error if one of these fails; then nothing stays open.
 *
 * @param isEmbedded it belongs to its state folder, even if another installation took it over meanwhile
 */
export async function openCluster(
  entry: ClusterEntry,
  isEmbedded: boolean,
  { state, kinds, env, clock, receiver, log, observe, onId }: OpenDeps,
  signal: AbortSignal,
): Promise<OpenCluster> {
  const connected = connect(await configOf(entry, env), {
    clock,
    env,
    observe: (request) => {
      log.debug("api request", { ...request });
      observe?.(request);
    },
  });
  try {
    const id = await clusterUidOf(connected, entry.file, signal);
    onId(id);
    const self = ownInstallation(state, entry, receiver);
    if (isEmbedded) await takeOver(self, { cluster: connected, clock }, signal);
    else await refuseBesideFlux(connected, { clock, log, kinds }, signal);
    const isOwn = ownerCheck(self, { cluster: connected, clock });
    // Checked here and not by the gate, which would also log the refusal that ends this start.
    const refusal = await isOwn(signal);
    if (refusal?.reason === "owner") throw new GateClosed(refusal.message);
    const gate = writeGate([isOwn], { clock, log });
    const home = asHome(gatedCluster(connected, gate));
    const targetAs = (user: string): TargetCluster => asTarget(gatedCluster(connected.as(user), gate));
    // A paused cluster with definitions gets no newer ones. The embedded one does, since no user could resume it if it did not start.
    const isReady = refusal !== undefined && !isEmbedded && (await areServed(kinds, connected, signal));
    const defined = [...kinds, ...readKinds];
    if (!isReady) await installCrds(isEmbedded ? connected : home, { clock, log, kinds: defined }, signal);
    const { accountTokens, externalMetrics, services } = connected;
    const gated = (cluster: Cluster): TargetCluster => asTarget(gatedCluster(cluster, gate));
    return {
      id,
      home,
      targetAs,
      gated,
      gate,
      accountTokens,
      externalMetrics,
      services,
      log,
      close: () => connected.close(),
    };
  } catch (error) {
    connected.close();
    throw error;
  }
}

async function clusterUidOf(cluster: Cluster, kubeconfig: string, signal: AbortSignal): Promise<string> {
  try {
    return await cluster.uid(signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`the cluster of kubeconfig ${kubeconfig} cannot be used: ${messageOf(error)}`, { cause: error });
  }
}
