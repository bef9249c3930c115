import { ecrLogin } from "../lib/aws/ecr/ecr-login.ts";
import { s3Artifacts } from "../lib/aws/s3/s3-artifacts.ts";
import { s3Client } from "../lib/aws/s3/s3-client.ts";
import { readSecret } from "../lib/aws/secrets/read-secret.ts";
import { secretsClient } from "../lib/aws/secrets/secrets-client.ts";
import { sqsDeadLetters } from "../lib/aws/sqs/sqs-dead-letters.ts";
import { sqsVisibility } from "../lib/aws/sqs/sqs-visibility.ts";
import { systemClock } from "../lib/core/system-clock.ts";
import { wasmEngine } from "../lib/engine/wasm-engine.ts";
import { httpClient } from "../lib/http/http-client.ts";
import { reconcileRequests } from "../lib/queue/request-reconcile.ts";
import { Config, readConfig } from "./config.ts";
import { flowFor } from "./kinds.ts";
import { isAllowedRepository } from "./lambda/allowed-repository.ts";
import { functionNetwork } from "./lambda/function-network.ts";
import { InstallationConfig, installation } from "./lambda/installation.ts";
import { lambdaHandler } from "./lambda/lambda-handler.ts";
import { ownCluster } from "./lambda/own-cluster.ts";
import { makeFlows } from "./make-flows.ts";
import { reconcileHandler } from "./reconcile.ts";
import { runnerDeps } from "./runner-deps.ts";

const config = readConfig(Config.extend(InstallationConfig.shape), process.env);

/** The bundle has the module beside it (infra/bundle.ts). One thread: a function has a core at most, and the memory of one build. */
const engine = wasmEngine({ file: new URL("./kustomize.wasm.br", import.meta.url), threads: 1, idleMs: 15 * 60_000 });
const clock = systemClock;

/** Behind the queue of wake-ups. */
export const handler = lambdaHandler(async (signal) => {
  const { connection, log, metrics, queue, queueDeps, sqs, stores } = installation(config);
  const { region } = connection;
  const { arn, cluster, gate } = ownCluster(config, { connection, log });
  const secrets = secretsClient(connection);
  const stored = { id: config.SLUICE_INSTALLATION_KEY_SECRET, region };
  // Nobody asks for another one as long as the function lives.
  const installationKey = await readSecret(secrets, stored, signal).finally(() => secrets.destroy());
  // A short key would give away the digests of Secrets that it is there to hide.
  if (!/^[0-9a-f]{64}$/.test(installationKey.reveal())) {
    throw new Error("SLUICE_INSTALLATION_KEY_SECRET names a secret that is no key: store 64 hexadecimal digits in it");
  }
  const account = config.SLUICE_BUCKET_ACCOUNT;
  const bucket = { client: s3Client(connection), name: config.SLUICE_BUCKET, region, account };
  const isAllowed = (namespace: string, repository: string): boolean =>
    isAllowedRepository(config.SLUICE_REPOSITORIES, namespace, repository);
  if (config.SLUICE_LOCAL_ADDRESSES === "allowed") {
    log.warn("registries on this machine are allowed, which is meant for tests alone");
  }
  const { values: settings, given } = config.SLUICE_SETTINGS;
  const flows = makeFlows({
    ...stores,
    artifacts: s3Artifacts({ bucket, prefix: "artifacts/", clock }),
    artifactUrl: (path) => `https://sluice.invalid/${path}`,
    clock,
    cluster,
    concurrency: given.has("concurrent-ssa") ? settings["concurrent-ssa"] : config.SLUICE_CONCURRENCY,
    engine,
    http: httpClient({ network: functionNetwork(config) }),
    installationKey,
    log,
    metrics,
    noCrossNamespaceRefs: settings["no-cross-namespace-refs"],
    logins: { aws: ecrLogin({ connection, clock, isAllowed }) },
    requests: reconcileRequests(queueDeps),
  });
  const deadLetters = sqsDeadLetters(sqs, { url: config.SLUICE_DEAD_LETTER_QUEUE_URL, region });
  return reconcileHandler({
    ...runnerDeps(queueDeps, { cluster, deadLetters, metrics }),
    flowOf: (key) => flowFor(key, arn.name, flows),
    gate,
    metrics,
    extendVisibility: sqsVisibility(sqs, queue),
  });
}, config.SLUICE_DEADLINE_RESERVE_MS);
