/**
 * The exact versions of everything in the real parts. The lock files beside the part (`go/<name>/go.sum`, `maven/<name>.sha256`,
 * `python/requirements.txt`, `npm/<name>/package-lock.json`) hold the checksums; a test compares them with this list.
 */
export const versions = {
  kubernetes: "1.35.4",
  etcd: "3.6.8",
  kwok: "0.7.0",
  "gateway-api": "1.2.1",
  registry: "3.1.2",
  prometheus: "3.13.5",
  "aws-iam-authenticator": "0.7.8",
  versitygw: "1.8.0",
  dynamodb: "2.6.1",
  sqs: "1.7.1",
  moto: "5.2.5",
  awscli: "1.46.3",
  "aws-lambda-ric": "4.0.2",
} as const;

export type Program = keyof typeof versions;
