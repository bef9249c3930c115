/** What a function has to find in its environment so that it starts; nothing that it names is there. */
export const functionEnvironment = {
  AWS_REGION: "eu-west-1",
  SLUICE_TABLE: "sluice",
  SLUICE_QUEUE_URL: "https://sqs.eu-west-1.amazonaws.com/123456789012/reconcile",
  SLUICE_DEAD_LETTER_QUEUE_URL: "https://sqs.eu-west-1.amazonaws.com/123456789012/dead",
  SLUICE_BUCKET: "sluice-artifacts",
  SLUICE_CLUSTER: "arn:aws:eks:eu-west-1:123456789012:cluster/prod",
  SLUICE_INSTALLATION_KEY_SECRET: "sluice",
};
