import { servedKind } from "../lib/api/kinds/declaration.ts";
import { codeCommitLogin } from "../lib/aws/codecommit/codecommit-login.ts";
import { ecrLogin } from "../lib/aws/ecr/ecr-login.ts";
import { kmsDataKeys } from "../lib/aws/kms-data-keys.ts";
import { s3Artifacts } from "../lib/aws/s3/s3-artifacts.ts";
import { s3Client } from "../lib/aws/s3/s3-bucket.ts";
import { readSecret, secretsClient } from "../lib/aws/secrets-manager.ts";
import { sqsDeadLetters, sqsLookRequests, sqsVisibility } from "../lib/aws/sqs.ts";
import { wasmCel } from "../lib/cel/wasm-cel.ts";
import type { EksTarget } from "../lib/core/ports/remote-clusters.ts";
import { wasmEngine } from "../lib/engine/wasm-engine.ts";
import { kinds } from "../lib/flows/kinds/kinds.ts";
import { httpClient } from "../lib/http/http-client.ts";
import { remoteClusters } from "../lib/kube/remote-clusters.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { configKinds, externalArtifactKinds } from "../lib/queue/observed-kinds.ts";
import { reconcileRequests } from "../lib/queue/request-reconcile.ts";
import { limitsOf, maxRunsOf } from "./cluster-limits.ts";
import { eksClusters } from "./lambda/eks-clusters.ts";
import { functionNetwork } from "./lambda/function-network.ts";
import { installation } from "./lambda/installation.ts";
import { lambdaHandler } from "./lambda/lambda-handler.ts";
import { queueOfNetwork } from "./lambda/network-queues.ts";
import { lookAtObject } from "./look-at-object.ts";
import { flowsOfClusters, makeFlows } from "./make-flows.ts";
import { reconcileHandler } from "./reconcile.ts";
import { runnerDeps } from "./runner-deps.ts";
import { isAllowedKey } from "./settings/allowed-keys.ts";
import { isAllowedRepository } from "./settings/allowed-repositories.ts";
import { listedTarget } from "./settings/allowed-targets.ts";
import { ReconcileConfig, readConfig } from "./settings/config.ts";
import { configSelector, flowSettings, keySettings } from "./settings/flow-settings.ts";
import { clusterSweep } from "./sweep-cluster.ts";

const config = readConfig(ReconcileConfig, process.env);

/** The bundle has the module beside it (infra/bundle.ts). One thread: a function has a core at most, and the memory of one build. */
const engine = wasmEngine({ file: new URL("./kustomize.wasm.br", import.meta.url), threads: 1, idleMs: 15 * 60_000 });
const cel = wasmCel({ file: new URL("./cel.wasm.br", import.meta.url), threads: 1, idleMs: 15 * 60_000 });
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
    throw new Error("SLUICE_INSTALLATION_KEY_SECRET names a secret that is no key: store 64 hexadecimal digits in it");
  }
  const entries = new Map(
    listed.filter(({ network }) => network === config.SLUICE_NETWORK).map((entry) => [entry.arn, entry]),
  );
  const webhookUrl = config.SLUICE_WEBHOOK_URL ?? null;
  const clusters = eksClusters(config, [...entries.values()], { connection, log, webhookUrl });
  const account = config.SLUICE_BUCKET_ACCOUNT;
  const bucket = { client: s3Client(connection), name: config.SLUICE_BUCKET, region, account };
  const isAllowed = (
    { cluster, namespace }: { readonly cluster: string; readonly namespace: string },
    repository: string,
  ) => isAllowedRepository(entries.get(cluster)?.repositories ?? {}, namespace, repository);
  const dataKeys = kmsDataKeys({
    ...{ connection, clock },
    isAllowed: ({ cluster, namespace }, key) =>
      isAllowedKey(entries.get(cluster)?.decryptionKeys ?? {}, namespace, key),
  });
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
  const sopsKeys = { http, clock, dataKeys, ...keySettings(values) };
  const parts = {
    ...stores,
    artifacts: s3Artifacts({ bucket, prefix: "artifacts/", clock }),
    artifactUrl: (path: string) => `https://sluice.invalid/${path}`,
    clock,
    concurrency: given.has("concurrent-ssa") ? values["concurrent-ssa"] : config.SLUICE_CONCURRENCY,
    engine,
    cel,
    http,
    remoteClusters: remoteClusters({ clock, network, eks }),
    installationKey,
    log,
    metrics,
    ...flowSettings(values),
    logins: { aws },
    gitLogins: { aws: codeCommitLogin({ connection, clock, isAllowed }) },
    requests: reconcileRequests(queueDeps),
  };
  const deadLetters = sqsDeadLetters(sqs, { url: config.SLUICE_DEAD_LETTER_QUEUE_URL, region });
  const limits = limitsOf({ ...queueDeps, ...stores, clusters, metrics, maxRuns: maxRunsOf(listed) });
  const observing = {
    ...{ clusters, clock, limits, log, requests: parts.requests, observed: stores.observed },
    subscriptions: stores.subscriptions,
    kinds: [
      ...kinds.map(servedKind),
      ...configKinds(configSelector(values), { ...stores, requests: parts.requests }),
      ...externalArtifactKinds(parts.gates, { ...stores, requests: parts.requests }),
    ],
  };
  const queue = queueOfNetwork(config);
  return reconcileHandler({
    ...runnerDeps(queueDeps, { clusters, deadLetters, metrics, kinds }),
    clusters,
    limits,
    flowOf: flowsOfClusters(clusters, ({ home, targetAs, gated, accountTokens }) =>
      makeFlows(kinds, { ...parts, home, targetAs, gated, sopsKeys: { ...sopsKeys, accountTokens } }),
    ),
    sweepCluster: clusterSweep({ ...observing, sweepLeases: stores.sweepLeases }),
    lookAtObject: lookAtObject({ ...observing, looks: sqsLookRequests(sqs, queue) }),
    metrics,
    extendVisibility: sqsVisibility(sqs, queue),
  });
}, config.SLUICE_DEADLINE_RESERVE_MS);
