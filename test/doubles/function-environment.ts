/** The environment that a function needs to start; the resources that it names do not exist. */
export const functionEnvironment = {
  AWS_REGION: "eu-west-1",
  SLUICE_TABLE: "sluice",
  SLUICE_QUEUE_URLS: '{"default":"https://sqs.eu-west-1.amazonaws.com/123456789012/reconcile"}',
  SLUICE_DEAD_LETTER_QUEUE_URL: "https://sqs.eu-west-1.amazonaws.com/123456789012/dead",
  SLUICE_BUCKET: "sluice-artifacts",
  SLUICE_INSTALLATION_BUCKET: "sluice-assets",
  SLUICE_INSTALLATION_KEY: "installation.json",
  SLUICE_INSTALLATION_DIGEST: `sha256:${"0".repeat(64)}`,
  SLUICE_INSTALLATION_KEY_SECRET: "sluice",
};
