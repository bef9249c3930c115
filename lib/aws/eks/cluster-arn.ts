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

/** The domain of AWS in each partition. */
const suffixes: Readonly<Record<string, string>> = {
  "aws-cn": "amazonaws.com.cn",
  "aws-eusc": "amazonaws.eu",
  "aws-iso": "c2s.ic.gov",
  "aws-iso-b": "sc2s.sgov.gov",
  "aws-iso-e": "cloud.adc-e.uk",
  "aws-iso-f": "csp.hci.ic.gov",
};

/** The regional endpoint of STS: the global one is slower and does not serve every region. */
export function stsHost({ partition, region }: Pick<ClusterArn, "partition" | "region">): string {
  return `sts.${region}.${suffixes[partition] ?? "amazonaws.com"}`;
}
