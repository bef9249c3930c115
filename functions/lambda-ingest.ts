import { reconcileRequests } from "../lib/queue/request-reconcile.ts";
import { readConfig } from "./config.ts";
import { ecrHosts, ingestHandler } from "./ingest.ts";
import { InstallationConfig, installation } from "./lambda/installation.ts";
import { lambdaHandler } from "./lambda/lambda-handler.ts";

const config = readConfig(InstallationConfig, process.env);

/** Behind EventBridge: events of registries. */
export const handler = lambdaHandler(async () => {
  const { log, queueDeps, stores } = installation(config);
  return ingestHandler({ edges: stores.edges, requests: reconcileRequests(queueDeps), log, registryHosts: ecrHosts });
}, config.SLUICE_DEADLINE_RESERVE_MS);
