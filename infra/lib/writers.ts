import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { AnyPrincipal, Effect, type IRole, PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import type { Queue } from "aws-cdk-lib/aws-sqs";

/**
 * Statements of resource policies that deny writing to all but the named roles, whatever else allows it: content of the table, the
 * bucket and the queues decides what is applied with Sluice's rights. They name no action that CloudFormation needs to change a
 * resource. `breakGlass`: ARNs of principals that may write nevertheless, a `*` in them stands for anything.
 */
export function denyOtherWriters(breakGlass: readonly string[]) {
  const except = (roles: readonly IRole[]) => ({
    ArnNotLike: { "aws:PrincipalArn": [...roles.map(({ roleArn }) => roleArn), ...breakGlass] },
  });
  return {
    table(table: Table, writers: readonly IRole[]): void {
      const actions = [
        "BatchWriteItem",
        "DeleteItem",
        "PartiQLDelete",
        "PartiQLInsert",
        "PartiQLUpdate",
        "PutItem",
        "UpdateItem",
      ];
      // A policy inside the table's own resource cannot name its ARN.
      const own = ["*"];
      table.addToResourcePolicy(
        deny(
          actions.map((action) => `dynamodb:${action}`),
          own,
          except(writers),
        ),
      );
    },
    /** `emptiedBy`: ARN of the role that empties it before it is deleted, and puts nothing in. */
    bucket(bucket: Bucket, writers: readonly IRole[], emptiedBy?: string): void {
      const objects = [bucket.arnForObjects("*")];
      const actions = ["s3:DeleteObject", "s3:DeleteObjectVersion", "s3:PutObject"];
      if (emptiedBy === undefined) {
        bucket.addToResourcePolicy(deny(actions, objects, except(writers)));
        return;
      }
      const { ArnNotLike } = except(writers);
      const emptying = { ArnNotLike: { "aws:PrincipalArn": [...ArnNotLike["aws:PrincipalArn"], emptiedBy] } };
      bucket.addToResourcePolicy(deny(["s3:PutObject"], objects, except(writers)));
      bucket.addToResourcePolicy(
        deny(["s3:DeleteObject", "s3:DeleteObjectVersion"], objects, emptying, "DenyOtherDeleters"),
      );
    },
    queue(queue: Queue, senders: readonly IRole[]): void {
      queue.addToResourcePolicy(
        deny(["sqs:SendMessage"], [queue.queueArn], {
          ...(senders.length + breakGlass.length === 0 ? {} : except(senders)),
          // EventBridge; which of its rules may send is another statement.
          Bool: { "aws:PrincipalIsAWSService": "false" },
        }),
      );
    },
  };
}

function deny(
  actions: readonly string[],
  resources: readonly string[],
  conditions: Record<string, object>,
  sid = "DenyOtherWriters",
): PolicyStatement {
  return new PolicyStatement({
    sid,
    effect: Effect.DENY,
    principals: [new AnyPrincipal()],
    actions: [...actions],
    resources: [...resources],
    conditions,
  });
}
