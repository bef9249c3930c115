import type { AwsConnection } from "../../lib/aws/aws-connection.ts";
import { embeddedMetrics } from "../../lib/aws/cloudwatch/embedded-metrics.ts";
import { dynamodbClient } from "../../lib/aws/dynamodb/dynamodb-client.ts";
import { openDynamodbStores } from "../../lib/aws/dynamodb/open-stores.ts";
import { sqsClient } from "../../lib/aws/sqs/sqs-client.ts";
import { sqsWakeUps } from "../../lib/aws/sqs/sqs-wake-ups.ts";
import { systemClock } from "../../lib/core/system-clock.ts";
import { writeLog } from "../../lib/core/write-log.ts";
import { rules } from "../../lib/queue/rules/rules.ts";
import { Config } from "../config.ts";

/** What every function is told. */
export const InstallationConfig = Config.pick({
  AWS_REGION: true,
  SLUICE_TABLE: true,
  SLUICE_QUEUE_URL: true,
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
  const metrics = embeddedMetrics(write, systemClock);
  const sqs = sqsClient(connection);
  const queue = { url: config.SLUICE_QUEUE_URL, region };
  const stores = openDynamodbStores({
    client: dynamodbClient(connection),
    name: config.SLUICE_TABLE,
    region,
    clock: systemClock,
  });
  const queueDeps = { items: stores.items, wakeUps: sqsWakeUps(sqs, queue), clock: systemClock, log, rules };
  return { connection, log, metrics, queue, queueDeps, sqs, stores };
}
