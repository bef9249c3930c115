import { awsNotificationTargets } from "../lib/aws/notification-targets.ts";
import { sqsVisibility } from "../lib/aws/sqs.ts";
import { wasmCel } from "../lib/cel/wasm-cel.ts";
import { httpClient } from "../lib/http/http-client.ts";
import { commitStatuses } from "../lib/notify/commit-status-id.ts";
import { awsProviders } from "../lib/notify/providers/aws-providers.ts";
import { providers } from "../lib/notify/providers/providers.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { githubAppLogins } from "../lib/sources/git/github-app.ts";
import { composeNotify } from "./compose-notify.ts";
import { eksClusters } from "./lambda/eks-clusters.ts";
import { functionNetwork } from "./lambda/function-network.ts";
import { installation } from "./lambda/installation.ts";
import { lambdaHandler } from "./lambda/lambda-handler.ts";
import { isAllowedNotificationTarget } from "./settings/allowed-notification-targets.ts";
import { NotifyConfig, readConfig } from "./settings/config.ts";

const config = readConfig(NotifyConfig, process.env);
const cel = wasmCel({ file: new URL("./cel.wasm.br", import.meta.url), threads: 1, idleMs: 15 * 60_000 });
const clock = systemClock;

/** Behind the queue of notifications of a network: delivers them to the Providers of its clusters. */
export const handler = lambdaHandler(async (signal) => {
  const { connection, document, log, sqs } = installation(config);
  const { clusters: listed, settings } = await document(signal);
  const { values } = settings;
  const http = httpClient({ network: functionNetwork(config, values) });
  const entries = new Map(
    listed.filter(({ network }) => network === config.SLUICE_NETWORK).map((entry) => [entry.arn, entry]),
  );
  return composeNotify({
    clusters: eksClusters(config, [...entries.values()], { connection, log, entersAs: "notify" }),
    providersOf(cluster) {
      const allowed = entries.get(cluster)?.notificationTargets ?? {};
      const isAllowed = (namespace: string, arn: string) => isAllowedNotificationTarget(allowed, namespace, arn);
      return { ...providers, ...awsProviders(awsNotificationTargets({ connection, clock, isAllowed })) };
    },
    parts: {
      http,
      dial: http.dial,
      now: () => clock.now(),
      sleep: (ms, stop) => clock.sleep(ms, stop),
      githubApps: githubAppLogins(http, clock),
    },
    commitStatusOf: commitStatuses(cel),
    noCrossNamespaceRefs: values["no-cross-namespace-refs"],
    serviceNamespaces: values["notification-service-namespaces"],
    gates: values["feature-gates"],
    hide: sqsVisibility(sqs, { url: config.SLUICE_NOTIFICATION_QUEUE_URL, region: config.AWS_REGION }),
    ...{ clock, log },
  });
}, config.SLUICE_DEADLINE_RESERVE_MS);
