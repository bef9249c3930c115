import type { AwsConnection } from "../../lib/aws/aws-connection.ts";
import { openDynamodbStores } from "../../lib/aws/dynamodb/open-stores.ts";
import { dynamodbClient } from "../../lib/aws/dynamodb/state-table.ts";
import { embeddedMetrics } from "../../lib/aws/embedded-metrics.ts";
import { sqsClient, sqsWakeUps } from "../../lib/aws/sqs.ts";
import type { WakeUps } from "../../lib/core/ports/wake-ups.ts";
import { clusterOfText } from "../../lib/core/work-key.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { writeLog } from "../../lib/process/write-log.ts";
import { rules } from "../../lib/queue/rules.ts";
import { Config, documentVariables } from "../settings/config.ts";
import { queueOfCluster } from "./network-queues.ts";

/** What every function is told. */
export const InstallationConfig = Config.pick({
  AWS_REGION: true,
  SLUICE_TABLE: true,
  ...documentVariables,
  SLUICE_DEADLINE_RESERVE_MS: true,
  SLUICE_LOG_LEVEL: true,
});
type InstallationConfig = Pick<Config, keyof typeof InstallationConfig.shape>;

/** What every function stands on: the state, the queue, and where it writes what happens. Nothing is opened before it is used. */
export function installation(config: InstallationConfig) {
  const connection: AwsConnection = { region: config.AWS_REGION };
  const { region } = connection;
  const write = (line: string): void => void process.stdout.write(line);
  const log = writeLog(write, config.SLUICE_LOG_LEVEL);
  const metrics = embeddedMetrics(write, systemClock, config.SLUICE_TABLE);
  const sqs = sqsClient(connection);
  const document = whatIsReadOnce(async (signal) => {
    // Loaded only where it is needed: ingest, which answers to pushes, seldom reads it.
    const { readDocument } = await import("./read-document.ts");
    return readDocument(config, connection, signal);
  });
  const stores = openDynamodbStores({
    client: dynamodbClient(connection),
    name: config.SLUICE_TABLE,
    region,
    clock: systemClock,
  });
  const queueOf = queueOfCluster(config, document);
  const wakeUps: WakeUps = {
    async send(wakeUp, delayMs, signal) {
      const queue = await queueOf(clusterOfText(wakeUp.key), signal);
      await sqsWakeUps(sqs, queue).send(wakeUp, delayMs, signal);
    },
  };
  const queueDeps = { items: stores.items, wakeUps, clock: systemClock, log, rules };
  return { connection, document, log, metrics, queueDeps, queueOf, sqs, stores };
}

/** Reads at the first call, and again after a read that failed. */
function whatIsReadOnce<Result>(read: (signal: AbortSignal) => Promise<Result>) {
  let reading: Promise<Result> | undefined;
  return (signal: AbortSignal): Promise<Result> => {
    reading ??= read(signal).catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
}
