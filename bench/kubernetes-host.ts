import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startKubernetes } from "@sluice/embedded-kubernetes";

/** The embedded API server in a process of its own, so that its memory does not count as the handler's. Folder: argument 1. */
const [folder = ""] = process.argv.slice(2);
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const server = await startKubernetes({ stateFolder: folder, port: 0, controllers: true, log: silent });
const kubeconfig = join(folder, "kubeconfig");
await writeFile(kubeconfig, server.kubeconfig(), { mode: 0o600 });
process.stdout.write(`${kubeconfig}\n`);
