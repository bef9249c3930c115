import { Stack } from "aws-cdk-lib";
import { Effect, PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";

/**
 * Lets CloudWatch Logs encrypt log groups of the key's stack with a key of this app. The policy of an imported key cannot be changed
 * here: without such a statement of its own, CloudFormation cannot create the log groups.
 */
export function letLogsUse(key: IKey): void {
  const { account, partition, region, urlSuffix } = Stack.of(key);
  key.addToResourcePolicy(
    new PolicyStatement({
      sid: "CloudWatchLogs",
      effect: Effect.ALLOW,
      principals: [new ServicePrincipal(`logs.${region}.${urlSuffix}`)],
      actions: ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:Describe*"],
      resources: ["*"],
      conditions: {
        ArnLike: { "kms:EncryptionContext:aws:logs:arn": `arn:${partition}:logs:${region}:${account}:log-group:*` },
      },
    }),
    true,
  );
}
