import { openDynamodbStores } from "../lib/aws/dynamodb/open-stores.ts";
import { dynamodbClient } from "../lib/aws/dynamodb/state-table.ts";
import { artifactPrefix, unnamedKey } from "../lib/aws/s3/artifact-keys.ts";
import { s3ArtifactCollection } from "../lib/aws/s3/s3-artifact-collection.ts";
import { s3Client } from "../lib/aws/s3/s3-bucket.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { writeLog } from "../lib/process/write-log.ts";
import { collectHandler } from "./collect.ts";
import { lambdaHandler } from "./lambda/lambda-handler.ts";
import { CollectConfig, readConfig } from "./settings/config.ts";

const config = readConfig(CollectConfig, process.env);

/** Behind a schedule: `{}` every day. */
export const handler = lambdaHandler(async () => {
  const { AWS_REGION: region, SLUICE_BUCKET: name, SLUICE_BUCKET_ACCOUNT: account } = config;
  const connection = { region };
  const bucket = { client: s3Client(connection), name, region, account };
  const stores = openDynamodbStores({
    client: dynamodbClient(connection),
    name: config.SLUICE_TABLE,
    region,
    clock: systemClock,
  });
  return collectHandler({
    artifacts: s3ArtifactCollection({ bucket, prefix: artifactPrefix, unnamedKey }),
    records: stores.records,
    clock: systemClock,
    log: writeLog((line) => void process.stdout.write(line), config.SLUICE_LOG_LEVEL),
  });
}, config.SLUICE_DEADLINE_RESERVE_MS);
