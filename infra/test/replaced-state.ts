import type { TemplateFile } from "./synthesise.ts";

/**
 * By type of what holds state: the properties that CloudFormation replaces the resource for, or makes another value for, by its
 * documentation ("Update requires: Replacement").
 */
const replacing: Readonly<Record<string, readonly string[]>> = {
  "AWS::DynamoDB::Table": ["KeySchema", "LocalSecondaryIndexes", "TableName", "ImportSourceSpecification"],
  "AWS::ECR::Repository": ["EncryptionConfiguration", "RepositoryName"],
  "AWS::S3::Bucket": ["BucketName", "ObjectLockEnabled"],
  "AWS::SecretsManager::Secret": ["GenerateSecretString", "Name", "SecretString"],
  "AWS::SQS::Queue": ["FifoQueue", "QueueName"],
};

/** What an upgrade from one template to the other would replace or lose, one line each. */
export function replacedState(before: TemplateFile, after: TemplateFile): readonly string[] {
  return Object.entries(before.Resources).flatMap(([id, old]) => {
    const properties = replacing[old.Type];
    if (properties === undefined) return [];
    const name = `${id} (${old.Type})`;
    const { [id]: now } = after.Resources;
    if (now?.Type !== old.Type) return [`${name} is gone`];
    const policies = ["DeletionPolicy", "UpdateReplacePolicy"] as const;
    return [
      ...policies.filter((policy) => now[policy] !== old[policy]),
      ...properties.filter((key) => JSON.stringify(now.Properties[key]) !== JSON.stringify(old.Properties[key])),
    ].map((key) => `${name} has another ${key}`);
  });
}
