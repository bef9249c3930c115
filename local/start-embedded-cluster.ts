import { type Kubernetes, startKubernetes, UnusableState } from "@sluice/embedded-kubernetes";
import type { Log } from "../lib/core/ports/log.ts";
import { listenOnLoopback } from "./loopback/listen-on-loopback.ts";
import { refuseForeignRequest } from "./loopback/refuse-foreign-request.ts";
import { DatabaseInFolder, DiskFull, namingFullDisk } from "./state/disk-full.ts";

export interface EmbeddedClusterOptions {
  /** The state folder, absolute: the cluster keeps its database and tokens beside ours. */
  readonly stateFolder: string;
  /** A port on 127.0.0.1, 0 for a free one. */
  readonly port: number;
  /** Names that it answers to besides those of loopback: `NAME` or `NAME:PORT`. */
  readonly names: readonly string[];
  readonly log: Log;
}

/**
 * Starts the embedded Kubernetes API as `sluice local` has it: a full disk is named by its folder, a taken port by the process
 * that has it, a request of a web page is refused, and an error names the option of `sluice local` that helps.
 */
export async function startEmbeddedCluster(options: EmbeddedClusterOptions): Promise<Kubernetes> {
  const { stateFolder, port, names, log } = options;
  try {
    return await startKubernetes({
      stateFolder,
      log,
      openDatabase: (file) => new DatabaseInFolder(file, stateFolder),
      listen: (server) => listenOnLoopback(server, port, { name: "the embedded cluster", option: "--api-port" }),
      refuse: (headers) => refuseForeignRequest(headers, names),
    });
  } catch (error) {
    if (!(error instanceof UnusableState)) throw error;
    const cause = namingFullDisk(error.cause, stateFolder);
    if (cause instanceof DiskFull) throw cause;
    throw new Error(`${error.message}. Choose another --state folder, or remove this one to start again`, {
      cause: error,
    });
  }
}
