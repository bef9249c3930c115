/** What something costs, and who says so. */
export interface Price {
  /** US dollars for one unit, before any discount for volume. */
  readonly usd: number;
  readonly source: string;
  /** When the source was published or checked. */
  readonly date: string;
  /** Not verified: from memory, because no source for this region was at hand. */
  readonly unverified?: true;
}

export const priceUnits = {
  lambdaGbSecond: "GB-second of Lambda on arm64",
  lambdaRequest: "invocation",
  tableReadUnit: "read unit of DynamoDB on demand",
  tableWriteUnit: "write unit of DynamoDB on demand",
  tableGbMonth: "GB-month in the table",
  tableBackupGbMonth: "GB-month of point-in-time recovery",
  queueRequest: "request to a standard queue",
  queueGroupRequest: "surcharge of a request about a message with a group",
  fifoRequest: "request to a FIFO queue",
  eventFromOtherAccount: "event of another account",
  logGb: "GB of logs taken in",
  logGbMonth: "GB-month of logs",
  metricMonth: "custom metric a month",
  alarmMonth: "metric of an alarm a month",
  dashboardMonth: "dashboard a month",
  secretMonth: "secret a month",
  secretRequest: "request to Secrets Manager",
  keyMonth: "own KMS key a month",
  keyRequest: "request to KMS",
  storeGbMonth: "GB-month in S3",
  storeWrite: "PUT to S3",
  storeRead: "GET from S3",
  email: "email of SNS",
  guardDutyEvent: "event of an audit log that GuardDuty reads",
} as const;
export type PriceName = keyof typeof priceUnits;
export type Prices = Readonly<Record<PriceName, Price>>;

export const regions = ["us-east-1", "eu-west-1"] as const;
export type Region = (typeof regions)[number];

const million = 1_000_000;

/** @internal Exported for the page that names it. */
export const copied = "https://github.com/henderjm/world-cup-sweepstake/blob/main/docs/costs/aws-ireland-rates.json";
/**
 * Ireland: rows of AWS's own price list. It could not be asked from here; another project ({@link copied}) has copied these rows
 * from this address, with their SKU, on 2026-10-04.
 */
const list = (service: string, usd: number, version: string): Price => ({
  usd,
  source: `https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/${service}/${version}/eu-west-1/index.json`,
  date: "2026-10-04",
});
const page = (usd: number, source: string, date: string): Price => ({ usd, source, date });
const remembered = (usd: number, source: string): Price => ({ usd, source, date: "2026-11-22", unverified: true });

const lambdaPage = "https://cloudchipr.com/blog/aws-lambda-pricing";
const dynamodbPage = "https://airbyte.com/data-engineering-resources/dynamodb-pricing";
const cloudwatchPage = "https://cloudburn.io/blog/amazon-cloudwatch-pricing";
const queuePage = "https://cloudburn.io/blog/amazon-sqs-pricing";
const eventsPage = "https://cloudburn.io/blog/amazon-eventbridge-pricing";
const keysPage = "https://cloudburn.io/blog/aws-kms-pricing";
const dynamodbList = "20260911124422";
const cloudwatchList = "20260922021715";
const secretsList = "20260911124610";
const storeList = "20260928230416";

/** List prices. The free tier and discounts for volume are left out. */
export const prices: Readonly<Record<Region, Prices>> = {
  "us-east-1": {
    lambdaGbSecond: page(0.0000133334, lambdaPage, "2024"),
    lambdaRequest: page(0.2 / million, lambdaPage, "2024"),
    tableReadUnit: page(0.125 / million, dynamodbPage, "2025-07-21"),
    tableWriteUnit: page(0.625 / million, dynamodbPage, "2025-07-21"),
    tableGbMonth: remembered(0.25, "https://aws.amazon.com/dynamodb/pricing/on-demand/"),
    tableBackupGbMonth: remembered(0.2, "https://aws.amazon.com/dynamodb/pricing/on-demand/"),
    queueRequest: page(0.4 / million, queuePage, "2026-03-14"),
    queueGroupRequest: page(0.1 / million, queuePage, "2026-03-14"),
    fifoRequest: remembered(0.5 / million, "https://aws.amazon.com/sqs/pricing/"),
    eventFromOtherAccount: page(1 / million, eventsPage, "2026-03-13"),
    logGb: page(
      0.5,
      "https://www.factualminds.com/blog/amazon-cloudwatch-pricing-metrics-logs-alarms-dashboards/",
      "2026-06-13",
    ),
    logGbMonth: remembered(0.03, "https://aws.amazon.com/cloudwatch/pricing/"),
    metricMonth: page(0.3, "https://signoz.io/guides/cloudwatch-pricing", "2026-02-15"),
    alarmMonth: remembered(0.1, cloudwatchPage),
    dashboardMonth: page(
      3,
      "https://www.factualminds.com/blog/amazon-cloudwatch-pricing-metrics-logs-alarms-dashboards/",
      "2026-06-13",
    ),
    secretMonth: remembered(0.4, "https://aws.amazon.com/secrets-manager/pricing/"),
    secretRequest: remembered(0.05 / 10_000, "https://aws.amazon.com/secrets-manager/pricing/"),
    keyMonth: page(1, keysPage, "2026-03-14"),
    keyRequest: page(0.03 / 10_000, "https://www.wring.co/blog/aws-kms-pricing-guide", "2026"),
    storeGbMonth: remembered(0.023, "https://aws.amazon.com/s3/pricing/"),
    storeWrite: remembered(0.005 / 1_000, "https://aws.amazon.com/s3/pricing/"),
    storeRead: remembered(0.0004 / 1_000, "https://aws.amazon.com/s3/pricing/"),
    email: remembered(2 / 100_000, "https://aws.amazon.com/sns/pricing/"),
    guardDutyEvent: remembered(1.6 / million, "https://aws.amazon.com/guardduty/pricing/"),
  },
  "eu-west-1": {
    lambdaGbSecond: remembered(0.0000133334, "https://aws.amazon.com/lambda/pricing/"),
    lambdaRequest: list("AWSLambda", 0.2 / million, "20261001184746"),
    tableReadUnit: list("AmazonDynamoDB", 0.1415 / million, dynamodbList),
    tableWriteUnit: list("AmazonDynamoDB", 0.705 / million, dynamodbList),
    tableGbMonth: list("AmazonDynamoDB", 0.283, dynamodbList),
    tableBackupGbMonth: list("AmazonDynamoDB", 0.22, dynamodbList),
    queueRequest: remembered(0.4 / million, "https://aws.amazon.com/sqs/pricing/"),
    queueGroupRequest: remembered(0.1 / million, "https://aws.amazon.com/sqs/pricing/"),
    fifoRequest: remembered(0.5 / million, "https://aws.amazon.com/sqs/pricing/"),
    eventFromOtherAccount: page(1 / million, eventsPage, "2026-03-13"),
    logGb: list("AmazonCloudWatch", 0.57, cloudwatchList),
    logGbMonth: list("AmazonCloudWatch", 0.03, cloudwatchList),
    metricMonth: list("AmazonCloudWatch", 0.3, cloudwatchList),
    alarmMonth: list("AmazonCloudWatch", 0.1, cloudwatchList),
    dashboardMonth: remembered(3, "https://aws.amazon.com/cloudwatch/pricing/"),
    secretMonth: list("AWSSecretsManager", 0.4, secretsList),
    secretRequest: list("AWSSecretsManager", 0.05 / 10_000, secretsList),
    keyMonth: remembered(1, "https://aws.amazon.com/kms/pricing/"),
    keyRequest: remembered(0.03 / 10_000, "https://aws.amazon.com/kms/pricing/"),
    storeGbMonth: list("AmazonS3", 0.023, storeList),
    storeWrite: list("AmazonS3", 0.005 / 1_000, storeList),
    storeRead: list("AmazonS3", 0.0004 / 1_000, storeList),
    email: remembered(2 / 100_000, "https://aws.amazon.com/sns/pricing/"),
    guardDutyEvent: remembered(1.6 / million, "https://aws.amazon.com/guardduty/pricing/"),
  },
};
