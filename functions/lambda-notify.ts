import { awsNotificationTargets } from "../lib/aws/notification-targets.ts";
import { sqsVisibility } from "../lib/aws/sqs.ts";
import { httpClient } from "../lib/http/http-client.ts";
import { awsProviders } from "../lib/notify/providers/aws-providers.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { composeNotify } from "./compose-notify.ts";
import { eksClusters } from "./lambda/eks-clusters.ts";
import { functionNetwork } from "./lambda/function-network.ts";
import { installation } from "./lambda/installation.ts";
import { lambdaHandler } from "./lambda/lambda-handler.ts";
import { isAllowedNotificationTarget } from "./settings/allowed-notification-targets.ts";
import { NotifyConfig, readConfig } from "./settings/config.ts";

const config = readConfig(NotifyConfig, process.env);
const clock = systemClock;

/** Behind the queue of notifications of a network: delivers them to the Providers of its clusters. */
export const handler = lambdaHandler(async (signal) => {
  const { connection, document, log, sqs } = installation(config);
  const { clusters: listed, settings } = await document(signal);
  const http = httpClient({ network: functionNetwork(config, settings.values) });
  const entries = new Map(
    listed.filter(({ network }) => network === config.SLUICE_NETWORK).map((entry) => [entry.arn, entry]),
  );
  return composeNotify({
    clusters: eksClusters(config, [...entries.values()], { connection, log, entersAs: "notify" }),
    deliverIn(cluster) {
      const allowed = entries.get(cluster.id)?.notificationTargets ?? {};
      const isAllowed = (namespace: string, arn: string) => isAllowedNotificationTarget(allowed, namespace, arn);
      const providers = awsProviders(awsNotificationTargets({ connection, clock, isAllowed }));
      return () => Promise.reject(new Error(`not composed yet ${Object.keys(providers).join()} ${typeof http}`));
    },
    hide: sqsVisibility(sqs, { url: config.SLUICE_NOTIFICATION_QUEUE_URL, region: config.AWS_REGION }),
    ...{ clock, log },
  });
}, config.SLUICE_DEADLINE_RESERVE_MS);
