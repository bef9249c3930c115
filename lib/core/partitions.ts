interface Partition {
  readonly id: string;
  /** How the names of its regions begin. */
  readonly regions: string;
  /** How its services are named. */
  readonly domain: string;
}

/** Amazon's partitions beside those of {@link usualDomain}. */
const partitions: readonly Partition[] = [
  { id: "aws-cn", regions: "cn-", domain: "amazonaws.com.cn" },
  { id: "aws-eusc", regions: "eusc-", domain: "amazonaws.eu" },
  { id: "aws-iso-b", regions: "us-isob-", domain: "sc2s.sgov.gov" },
  { id: "aws-iso", regions: "us-iso-", domain: "c2s.ic.gov" },
  { id: "aws-iso-e", regions: "eu-isoe-", domain: "cloud.adc-e.uk" },
  { id: "aws-iso-f", regions: "us-isof-", domain: "csp.hci.ic.gov" },
];

const usualDomain = "amazonaws.com";

export const awsDomains: readonly string[] = [usualDomain, ...partitions.map(({ domain }) => domain)];

export function domainOfPartition(partition: string): string {
  return partitions.find(({ id }) => id === partition)?.domain ?? usualDomain;
}

export function domainOfRegion(region: string): string {
  return partitions.find(({ regions }) => region.startsWith(regions))?.domain ?? usualDomain;
}

/** As an ARN names it: `aws`, `aws-cn`. */
export function partitionOfRegion(region: string): string {
  if (region.startsWith("us-gov-")) return "aws-us-gov";
  return partitions.find(({ regions }) => region.startsWith(regions))?.id ?? "aws";
}
