import { CfnResource, Stack } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/**
 * Gives a resource that holds state a logical id by the path of its Sluice and its name alone: CloudFormation replaces a resource
 * whose logical id changes, and the CDK's own ids change with every move inside these constructs.
 */
export function fixedLogicalId(sluice: IConstruct, construct: IConstruct, name: string): void {
  const resource = construct.node.defaultChild;
  if (!(resource instanceof CfnResource)) throw new Error(`${construct.node.path} is not a CloudFormation resource`);
  const stackDepth = Stack.of(sluice).node.scopes.length;
  const path = sluice.node.scopes.slice(stackDepth).map(({ node }) => node.id.replaceAll(/[^A-Za-z0-9]/g, ""));
  resource.overrideLogicalId([...path, name].join(""));
}
