/** What the name of a cluster of EKS says. */
export interface ClusterArn {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
  readonly name: string;
}

export const clusterArnPattern =
  /^arn:(aws[\w-]*):eks:([a-z0-9-]+):([0-9]{12}):cluster\/([0-9A-Za-z][A-Za-z0-9_-]{0,99})$/;

/** Reads `arn:<partition>:eks:<region>:<account>:cluster/<name>`. Throws a `RangeError` for anything else. */
export function parseClusterArn(text: string): ClusterArn {
  const [, partition, region, account, name] = clusterArnPattern.exec(text) ?? [];
  if (partition === undefined || region === undefined || account === undefined || name === undefined) {
    throw new RangeError(`"${text}" is no cluster of EKS: write arn:aws:eks:<region>:<account>:cluster/<name>`);
  }
  return { partition, region, account, name };
}

/** What the hosts of AWS end with in each partition. */
const suffixes: Readonly<Record<string, string>> = {
  "aws-cn": "amazonaws.com.cn",
  "aws-eusc": "amazonaws.eu",
  "aws-iso": "c2s.ic.gov",
  "aws-iso-b": "sc2s.sgov.gov",
  "aws-iso-e": "cloud.adc-e.uk",
  "aws-iso-f": "csp.hci.ic.gov",
};

/** STS of a region, the regional one: the global endpoint is slower, and not for every region. */
export function stsHost({ partition, region }: Pick<ClusterArn, "partition" | "region">): string {
  return `sts.${region}.${suffixes[partition] ?? "amazonaws.com"}`;
}
