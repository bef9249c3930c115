import { declaredKinds } from "../lib/api/kinds/declared-kinds.ts";
import { sqsSweepRequests } from "../lib/aws/sqs.ts";
import { limitsOf, maxRunsOf } from "./cluster-limits.ts";
import { InstallationConfig, installation } from "./lambda/installation.ts";
import { lambdaHandler } from "./lambda/lambda-handler.ts";
import { readConfig } from "./settings/config.ts";
import { sweepHandler } from "./sweep.ts";

const config = readConfig(InstallationConfig, process.env);

/** This function reaches no cluster. */
const noClusters = { get: () => undefined };

/** Behind a schedule: `{}` every minute. */
export const handler = lambdaHandler(async (signal) => {
  const { document, metrics, queueDeps, queueOf, sqs, stores } = installation(config);
  const { clusters } = await document(signal);
  return sweepHandler({
    ...queueDeps,
    metrics,
    kinds: declaredKinds,
    clusters: () => clusters.map(({ arn }) => arn),
    limits: limitsOf({ ...queueDeps, ...stores, clusters: noClusters, metrics, maxRuns: maxRunsOf(clusters) }),
    sweepRequests: {
      send: async (cluster, stop) => sqsSweepRequests(sqs, await queueOf(cluster, stop)).send(cluster, stop),
    },
  });
}, config.SLUICE_DEADLINE_RESERVE_MS);
