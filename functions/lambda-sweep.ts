import { reconcileRequests } from "../lib/queue/request-reconcile.ts";
import { Config, readConfig } from "./config.ts";
import { kinds } from "./kinds.ts";
import { InstallationConfig, installation } from "./lambda/installation.ts";
import { lambdaHandler } from "./lambda/lambda-handler.ts";
import { ownCluster } from "./lambda/own-cluster.ts";
import { sweepHandler } from "./sweep.ts";

const SweepConfig = InstallationConfig.extend(Config.pick({ SLUICE_CLUSTER: true }).shape);
const config = readConfig(SweepConfig, process.env);

/** Behind a schedule: `{"cluster": "<name>"}` every minute. */
export const handler = lambdaHandler(async () => {
  const { connection, log, queueDeps, stores } = installation(config);
  const { cluster, gate } = ownCluster(config, { connection, log });
  return sweepHandler({
    ...queueDeps,
    sightings: stores.sightings,
    requests: reconcileRequests(queueDeps),
    gate,
    kinds,
    listMetadata: (_name, kind, signal) => cluster.listMetadata(kind, signal),
  });
}, config.SLUICE_DEADLINE_RESERVE_MS);
