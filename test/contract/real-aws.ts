import type { AwsConnection } from "../../lib/aws/aws-connection.ts";

/** A stand-in for services of AWS, as `npm run real -- up` prints it; absent where the tests are to be skipped. */
export function realAws(part: "AWS" | "S3" | "SQS"): {
  readonly title: string;
  readonly connection: AwsConnection | undefined;
} {
  const { SLUICE_REAL_REGION: region = "eu-west-1" } = process.env;
  const { SLUICE_REAL_ACCESS_KEY_ID: accessKeyId = "x", SLUICE_REAL_SECRET_ACCESS_KEY: secretAccessKey = "y" } =
    process.env;
  const endpoint = process.env[`SLUICE_REAL_${part}`] ?? "";
  const title = `where SLUICE_REAL_${part} names one (npm run real -- up)`;
  if (endpoint === "") return { title, connection: undefined };
  return { title, connection: { region, endpoint, credentials: { accessKeyId, secretAccessKey } } };
}
