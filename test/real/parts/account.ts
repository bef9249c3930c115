/** The account for every AWS part; S3 checks it. DynamoDB Local takes letters and digits only. */
export const account = { accessKeyId: "sluicetest", secretAccessKey: "sluice-test-secret", region: "eu-west-1" };
