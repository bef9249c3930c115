import { ecrLogin } from "../lib/aws/ecr/ecr-login.ts";
import { artifactPrefix } from "../lib/aws/s3/artifact-keys.ts";
import { s3Artifacts } from "../lib/aws/s3/s3-artifacts.ts";
import { s3Client } from "../lib/aws/s3/s3-bucket.ts";
import { readSecret, secretsClient } from "../lib/aws/secrets-manager.ts";
import { sqsDeadLetters, sqsLookRequests, sqsVisibility } from "../lib/aws/sqs.ts";
import { sqsNotifications } from "../lib/aws/sqs-notifications.ts";
import { wasmCel } from "../lib/cel/wasm-cel.ts";
import type { BucketLogin } from "../lib/core/ports/bucket-login.ts";
import type { DataKeys } from "../lib/core/ports/data-keys.ts";
import type { EventSink } from "../lib/core/ports/event-sink.ts";
import type { GitLogin } from "../lib/core/ports/git-login.ts";
import type { EksTarget } from "../lib/core/ports/remote-clusters.ts";
import { wasmEngine } from "../lib/engine/wasm-engine.ts";
import { wasmHelm } from "../lib/engine/wasm-helm.ts";
import { kinds } from "../lib/flows/kinds/kinds.ts";
import { httpClient } from "../lib/http/http-client.ts";
import { remoteClusters } from "../lib/kube/remote-clusters.ts";
import { listedAlerts } from "../lib/notify/listed-alerts.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { limitThreads, threadTurn } from "../lib/threads/thread-job.ts";
import { maxRunsOf } from "./cluster-limits.ts";
import { composeFlows } from "./compose-flows.ts";
import { composeReconcile } from "./compose-reconcile.ts";
import { eksClusters } from "./lambda/eks-clusters.ts";
import { functionNetwork } from "./lambda/function-network.ts";
import { installation } from "./lambda/installation.ts";
import { lambdaHandler } from "./lambda/lambda-handler.ts";
import { queueOfNetwork } from "./lambda/network-queues.ts";
import { isAllowedBucket } from "./settings/allowed-buckets.ts";
import { isAllowedKey } from "./settings/allowed-keys.ts";
import { isAllowedRegion } from "./settings/allowed-regions.ts";
import { isAllowedRepository } from "./settings/allowed-repositories.ts";
import { listedTarget } from "./settings/allowed-targets.ts";
import { ReconcileConfig, readConfig } from "./settings/config.ts";
import { configSelector } from "./settings/flow-settings.ts";
import { functionThreads } from "./settings/function-threads.ts";

const config = readConfig(ReconcileConfig, process.env);

/** The bundle has the modules beside it (infra/bundle.ts). Memory is reckoned with so many threads (settings/reconcile-size.ts). */
const threads = functionThreads;
const engine = wasmEngine({
  file: new URL("./kustomize.wasm.br", import.meta.url),
  ...{ threads, idleMs: 15 * 60_000, sharedTurn: threadTurn },
});
const helm = wasmHelm({
  file: new URL("./helm.wasm.br", import.meta.url),
  ...{ threads, idleMs: 15 * 60_000, sharedTurn: threadTurn },
});
const cel = wasmCel({ file: new URL("./cel.wasm.br", import.meta.url), threads, idleMs: 15 * 60_000 });
limitThreads(threads);
const clock = systemClock;

/** Behind the queue of wake-ups. */
export const handler = lambdaHandler(async (signal) => {
  const { connection, document, log, metrics, queueDeps, sqs, stores } = installation(config);
  const { region } = connection;
  const secrets = secretsClient(connection);
  const stored = { id: config.SLUICE_INSTALLATION_KEY_SECRET, region };
  const [{ clusters: listed, settings }, installationKey] = await Promise.all([
    document(signal),
    // It is not replaced as long as the function lives.
    readSecret(secrets, stored, signal).finally(() => secrets.destroy()),
  ]);
  // A short key would give away the digests of Secrets that it is there to hide.
  if (!/^[0-9a-f]{64}$/.test(installationKey.reveal())) {
    throw new Error(
      "the secret of SLUICE_INSTALLATION_KEY_SECRET holds an invalid key: store 64 hexadecimal digits in it",
    );
  }
  const entries = new Map(
    listed.filter(({ network }) => network === config.SLUICE_NETWORK).map((entry) => [entry.arn, entry]),
  );
  const webhookUrl = config.SLUICE_WEBHOOK_URL ?? null;
  const clusters = eksClusters(config, [...entries.values()], { connection, log, entersAs: "reconcile", webhookUrl });
  const account = config.SLUICE_BUCKET_ACCOUNT;
  const bucket = { client: s3Client(connection), name: config.SLUICE_BUCKET, region, account };
  const isAllowed = (
    { cluster, namespace }: { readonly cluster: string; readonly namespace: string },
    repository: string,
  ) => isAllowedRepository(entries.get(cluster)?.repositories ?? {}, namespace, repository);
  const isListedBucket = (
    { cluster, namespace }: { readonly cluster: string; readonly namespace: string },
    name: string,
  ) => isAllowedBucket(entries.get(cluster)?.buckets ?? {}, namespace, name);
  let gitLogin: GitLogin | undefined;
  let bucketLogins: BucketLogin | undefined;
  let opener: DataKeys | undefined;
  const alerts = listedAlerts(clock);
  const dataKeys: DataKeys = {
    async open(sealed, identity, stop) {
      // Few objects are encrypted.
      const { kmsDataKeys } = await import("../lib/aws/kms-data-keys.ts");
      opener ??= kmsDataKeys({
        ...{ connection, clock },
        isAllowed: ({ cluster, namespace }, key) =>
          isAllowedKey(entries.get(cluster)?.decryptionKeys ?? {}, namespace, key),
      });
      return opener.open(sealed, identity, stop);
    },
  };
  const aws = ecrLogin({ connection, clock, isAllowed });
  if (config.SLUICE_LOCAL_ADDRESSES === "allowed") {
    log.warn("registries on this machine are allowed, which is meant for tests alone");
  }
  const { values, given } = settings;
  const network = functionNetwork(config, values);
  const http = httpClient({ network });
  const listedFor = ({ cluster, namespace }: EksTarget["tenant"], arn: string) =>
    listedTarget(entries.get(cluster)?.targets ?? {}, namespace, arn);
  const eks = async (target: EksTarget) => {
    // Few objects name another cluster.
    const { eksTargets } = await import("../lib/aws/eks/eks-targets.ts");
    return eksTargets({ connection, clock, listed: listedFor })(target);
  };
  const concurrency = given.has("concurrent-ssa") ? values["concurrent-ssa"] : config.SLUICE_CONCURRENCY;
  const flows = composeFlows(kinds, {
    ...stores,
    artifacts: s3Artifacts({ bucket, prefix: artifactPrefix, clock }),
    artifactUrl: (path: string) => `https://sluice.invalid/${path}`,
    ...{ clock, concurrency, engine, helm, cel, http, dataKeys, installationKey, log, metrics },
    remoteClusters: remoteClusters({ clock, network, eks }),
    settings: values,
    ...(config.SLUICE_NOTIFICATION_QUEUE_URL === undefined
      ? {}
      : { alertsChanged: (cluster: string) => alerts.forget(cluster) }),
    logins: { aws },
    gitLogins: {
      aws: {
        async credentials(request, stop) {
          // Few repositories are in CodeCommit.
          const { codeCommitLogin } = await import("../lib/aws/codecommit/codecommit-login.ts");
          gitLogin ??= codeCommitLogin({ connection, clock, isAllowed });
          return gitLogin.credentials(request, stop);
        },
      },
    },
    cloudWatchOf: (cluster) => ({
      async metricData(request, stop) {
        // Few MetricTemplates are of CloudWatch.
        const { cloudWatch } = await import("../lib/aws/cloud-watch.ts");
        const isAllowed = (namespace: string, at: string) =>
          isAllowedRegion(entries.get(cluster)?.cloudWatchRegions ?? {}, namespace, at);
        return cloudWatch({ connection, clock, isAllowed }).metricData(request, stop);
      },
    }),
    bucketLogins: {
      aws: {
        async credentials(request, stop) {
          // Few objects are Buckets.
          const { bucketLogin } = await import("../lib/aws/bucket-login.ts");
          bucketLogins ??= bucketLogin({ connection, isAllowed: isListedBucket });
          return bucketLogins.credentials(request, stop);
        },
      },
    },
  });
  const queue = queueOfNetwork(config);
  const notifications = config.SLUICE_NOTIFICATION_QUEUE_URL;
  let dispatched: EventSink | undefined;
  const events = (url: string): EventSink => ({
    async tell(cluster, event, relation, stop) {
      // Not every installation has notifications, and it loads the matcher of RE2.
      const { dispatchEvents } = await import("../lib/notify/dispatch.ts");
      dispatched ??= dispatchEvents({
        ...{ clusters, clock, log, alerts, windows: stores.eventWindows, groups: stores.causeGroups },
        queue: sqsNotifications(sqs, { url, region }),
      });
      await dispatched.tell(cluster, event, relation, stop);
    },
  });
  const { handler: reconcile } = composeReconcile({
    queue: { ...queueDeps, ...(notifications === undefined ? {} : { events: events(notifications) }) },
    ...{ stores, clusters, kinds, metrics, flows },
    deadLetters: sqsDeadLetters(sqs, { url: config.SLUICE_DEAD_LETTER_QUEUE_URL, region }),
    looks: sqsLookRequests(sqs, queue),
    extendVisibility: sqsVisibility(sqs, queue),
    maxRuns: maxRunsOf(listed),
    configSelector: configSelector(values),
    gates: values["feature-gates"],
  });
  return reconcile;
}, config.SLUICE_DEADLINE_RESERVE_MS);
