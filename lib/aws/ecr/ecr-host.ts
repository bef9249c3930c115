import { RegistryLoginError } from "../../core/ports/registry-login.ts";

/** Where Amazon's partitions have their services. */
const domains = [
  "amazonaws.com",
  "amazonaws.com.cn",
  "amazonaws.eu",
  "sc2s.sgov.gov",
  "c2s.ic.gov",
  "cloud.adc-e.uk",
  "csp.hci.ic.gov",
] as const;
const anyDomain = [...domains, "on.aws"].map((domain) => domain.replaceAll(".", "\\.")).join("|");
/**
 * As Flux's (reference sources 5.2), of which it is a part of the message too, except that it takes the whole host and an account of 12
 * digits: by Flux's, `….amazonaws.com.evil.example` gets the region's token. The second group is the region.
 */
const expression = `^([0-9]{12})\\.dkr[.-]ecr(?:-fips)?\\.([a-z0-9-]+)\\.(?:${anyDomain})(?::443)?$`;
const pattern = new RegExp(expression);

const publicHost = "public.ecr.aws";

/** The region of a registry of ECR by its host. Throws a {@link RegistryLoginError} with Flux's text for any other host. */
export function ecrRegion(host: string): string {
  if (host === publicHost) {
    throw new RegistryLoginError(
      `${publicHost} with provider aws is not supported yet: set provider generic, it lets everybody in`,
    );
  }
  const region = pattern.exec(host)?.[2];
  if (region === undefined) throw new RegistryLoginError(`invalid AWS registry: '${host}'. must match ${expression}`);
  return region;
}

/** Whether this is the whole host of a private registry of ECR. */
export function isEcrHost(host: string): boolean {
  return pattern.test(host);
}

/**
 * ECR's hosts in a region and the bucket that its layers come from, as entries of `network.allow`: with endpoints in the VPC
 * they are at private addresses. Only Amazon says where these names lead; of a whole domain of AWS' its customers do, too.
 */
export function ecrEntries(region: string): readonly string[] {
  return [
    `*.dkr-ecr.${region}.on.aws`,
    `*.dkr-ecr-fips.${region}.on.aws`,
    ...domains.flatMap((domain) => [
      `*.dkr.ecr.${region}.${domain}`,
      `*.dkr.ecr-fips.${region}.${domain}`,
      `prod-${region}-starport-layer-bucket.s3.${region}.${domain}`,
    ]),
  ];
}
