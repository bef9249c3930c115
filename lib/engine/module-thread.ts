import { parentPort, workerData } from "node:worker_threads";
import { instantiate, moduleIn, perform } from "./go-module.ts";
import type { ModuleJob } from "./module-threads.ts";

/** The thread that module-threads.ts starts: one instance of the module, one request at a time. */
if (parentPort !== null) {
  const port = parentPort;
  const { go, host } = instantiate(moduleIn(workerData));
  port.on("message", (job: ModuleJob) => port.postMessage(perform(go, host, job)));
}
