import { domainOfPartition } from "../../core/partitions.ts";
import { clusterArnPattern } from "../../core/work-key.ts";

/** The parts of the ARN of an EKS cluster. */
export interface ClusterArn {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
  readonly name: string;
}

/** Reads `arn:<partition>:eks:<region>:<account>:cluster/<name>`. Throws a `RangeError` for anything else. */
export function parseClusterArn(text: string): ClusterArn {
  const [, partition, region, account, name] = clusterArnPattern.exec(text) ?? [];
  if (partition === undefined || region === undefined || account === undefined || name === undefined) {
    throw new RangeError(
      `"${text}" is not the ARN of an EKS cluster: write arn:aws:eks:<region>:<account>:cluster/<name>`,
    );
  }
  return { partition, region, account, name };
}

/** The regional endpoint of STS: the global one is slower and does not serve every region. */
export function stsHost({ partition, region }: Pick<ClusterArn, "partition" | "region">): string {
  return `sts.${region}.${domainOfPartition(partition)}`;
}
