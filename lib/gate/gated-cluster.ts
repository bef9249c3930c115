import type { Cluster } from "../core/ports/cluster.ts";
import { LookTooOld, type WriteGate } from "../core/ports/write-gate.ts";
import { guardedCluster } from "./guarded-cluster.ts";

/** The limit for tries of a write that the gate's check was too old for when the request was ready. */
const maxTries = 3;

/**
 * The cluster, with a gate that each write has to pass: before anything else, and once more at the moment when it is sent, which may
 * be much later. Reads and dry runs pass.
 */
export function gatedCluster(cluster: Cluster, gate: WriteGate): Cluster {
  return guardedCluster(cluster, async (options, signal, send) => {
    const beforeSend = (): void => {
      options.beforeSend?.();
      gate.assertOpen();
    };
    for (let tries = 1; ; tries++) {
      await gate.enter(signal);
      try {
        return await send({ ...options, beforeSend });
      } catch (error) {
        // An unsent write can be tried again; the adapter never sends a write twice that may not be repeated.
        if (!(error instanceof LookTooOld) || tries === maxTries) throw error;
      }
    }
  });
}
