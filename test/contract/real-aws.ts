import type { AwsConnection } from "../../lib/aws/aws-connection.ts";

/** A stand-in for services of AWS, as `npm run real -- up` prints it; undefined where the tests are to be skipped. */
export function realAws(part: "AWS" | "DYNAMODB" | "S3" | "SQS"): AwsConnection | undefined {
  const { SLUICE_REAL_REGION: region = "eu-west-1" } = process.env;
  const { SLUICE_REAL_ACCESS_KEY_ID: accessKeyId = "x", SLUICE_REAL_SECRET_ACCESS_KEY: secretAccessKey = "y" } =
    process.env;
  const endpoint = process.env[`SLUICE_REAL_${part}`] ?? "";
  return endpoint === "" ? undefined : { region, endpoint, credentials: { accessKeyId, secretAccessKey } };
}
