import type { AwsConnection } from "../../lib/aws/aws-connection.ts";
import { deadlineMs } from "../deadline.ts";

/**
 * A stand-in for services of AWS, as `npm run real -- up` prints it; undefined where the tests are to be skipped. A try that the machine
 * makes slow is not given up: a second one would be counted, or find its own work done.
 */
export function realAws(part: "AWS" | "DYNAMODB" | "S3" | "SQS"): AwsConnection | undefined {
  const { SLUICE_REAL_REGION: region = "eu-west-1" } = process.env;
  const { SLUICE_REAL_ACCESS_KEY_ID: accessKeyId = "x", SLUICE_REAL_SECRET_ACCESS_KEY: secretAccessKey = "y" } =
    process.env;
  const endpoint = process.env[`SLUICE_REAL_${part}`] ?? "";
  if (endpoint === "") return undefined;
  return { region, endpoint, credentials: { accessKeyId, secretAccessKey }, attemptTimeoutMs: deadlineMs };
}
