import { reconcileRequests } from "../lib/queue/request-reconcile.ts";
import { ecrHosts } from "./ingest/ecr.ts";
import { ingestBatchHandler } from "./ingest.ts";
import { InstallationConfig, installation } from "./lambda/installation.ts";
import { lambdaHandler } from "./lambda/lambda-handler.ts";
import { Config, readConfig } from "./settings/config.ts";

const IngestConfig = InstallationConfig.extend(Config.pick({ SLUICE_EVENTS_FROM: true }).shape);
const config = readConfig(IngestConfig, process.env);

/** Behind the queue of hints, into which EventBridge puts the events of registries, repositories and buckets. */
export const handler = lambdaHandler(async () => {
  const { log, metrics, queueDeps, stores } = installation(config);
  return ingestBatchHandler({
    ...{ log, metrics },
    subscriptions: stores.subscriptions,
    observed: stores.observed,
    requests: reconcileRequests(queueDeps),
    registryHosts: ecrHosts,
    isAdmitted: (account, region) => config.SLUICE_EVENTS_FROM?.has(`${account}/${region}`) ?? true,
  });
}, config.SLUICE_DEADLINE_RESERVE_MS);
