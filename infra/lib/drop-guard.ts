import { AspectPriority, Aspects, CfnResource, CustomResource, Duration, Lazy, Stack } from "aws-cdk-lib";
import { Construct } from "constructs";
import { type Granted, writeGranted } from "../../functions/settings/granted.ts";
import { allow } from "./access.ts";
import type { ServiceFunction } from "./service.ts";

export interface DropGuardProps {
  /** What compares. */
  readonly compares: ServiceFunction;
  /** Called once the whole app is known: what it grants. */
  readonly granted: () => Granted;
  readonly allowDrops: boolean;
}

/** Resources whose update takes rights, a cluster or a URL away. CloudFormation deletes removed resources last. */
const takingAway = new Set([
  "AWS::DynamoDB::Table",
  "AWS::EKS::AccessEntry",
  "AWS::IAM::ManagedPolicy",
  "AWS::IAM::Policy",
  "AWS::Lambda::Function",
  "AWS::S3::Bucket",
  "AWS::S3::BucketPolicy",
  "AWS::SQS::QueuePolicy",
  "Custom::S3AutoDeleteObjects",
  "Custom::SluiceDefinitions",
]);

/** Fails a deployment that takes away what the one before granted, before anything is taken away. */
export class DropGuard extends Construct {
  constructor(scope: Construct, id: string, { compares, granted, allowDrops }: DropGuardProps) {
    super(scope, id);
    // By its status it tells a rollback, which takes away what the failed deployment had added.
    compares.role.addToPrincipalPolicy(
      allow("ReadOwnStack", ["cloudformation:DescribeStacks"], [Stack.of(this).stackId]),
    );
    const resource = new CustomResource(this, "Granted", {
      serviceToken: compares.alias.functionArn,
      resourceType: "Custom::SluiceInstallation",
      serviceTimeout: Duration.minutes(5),
      properties: {
        granted: Lazy.string({ produce: () => this.text(granted) }),
        ...(allowDrops ? { allowDrops: "true" } : {}),
      },
    });
    resource.node.addDependency(compares);
    const guard = resource.node.defaultChild;
    Aspects.of(scope).add(
      {
        visit: (node) => {
          if (!CfnResource.isCfnResource(node) || !takingAway.has(node.cfnResourceType)) return;
          if (CfnResource.isCfnResource(guard) && !node.node.scopes.includes(compares))
            node.addResourceDependency(guard);
        },
      },
      // After those that split the policies of roles.
      { priority: AspectPriority.READONLY },
    );
  }

  private text(granted: () => Granted): string {
    try {
      return writeGranted(granted());
    } catch (error) {
      throw new Error(
        `${this.node.scope?.node.path ?? ""}: ${error instanceof Error ? error.message : String(error)}`,
        {
          cause: error,
        },
      );
    }
  }
}
