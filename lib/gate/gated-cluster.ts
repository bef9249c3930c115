import type { Cluster, WriteOptions } from "../core/ports/cluster.ts";
import { LookTooOld, type WriteGate } from "../core/ports/write-gate.ts";

type Guard = Pick<WriteOptions, "beforeSend" | "dryRun">;

/** Of a write whose look at the gate was too old when the request was to be sent. */
const maxTries = 3;

/**
 * The cluster, with a gate that each write has to pass: before anything else, and once more in the moment in which it is sent,
 * which may be much later. Reads and dry runs pass.
 */
export function gatedCluster<C extends Cluster>(cluster: C, gate: WriteGate): C {
  const pass = async <Options extends Guard, Result>(
    options: Options,
    signal: AbortSignal,
    write: (options: Options) => Promise<Result>,
  ): Promise<Result> => {
    if (options.dryRun === true) return write(options);
    const beforeSend = (): void => {
      options.beforeSend?.();
      gate.assertOpen();
    };
    for (let tries = 1; ; tries++) {
      await gate.enter(signal);
      try {
        return await write({ ...options, beforeSend });
      } catch (error) {
        // What was not sent can be tried again; the adapter sends nothing twice that may not be repeated.
        if (!(error instanceof LookTooOld) || tries === maxTries) throw error;
      }
    }
  };
  return {
    ...cluster,
    apply: (manifest, options, signal) => pass(options, signal, (given) => cluster.apply(manifest, given, signal)),
    create: (manifest, options, signal) => pass(options, signal, (given) => cluster.create(manifest, given, signal)),
    patch: (ref, patch, options, signal) => pass(options, signal, (given) => cluster.patch(ref, patch, given, signal)),
    delete: (ref, options, signal) => pass(options, signal, (given) => cluster.delete(ref, given, signal)),
  };
}
