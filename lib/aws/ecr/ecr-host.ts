import { RegistryLoginError } from "../../core/ports/registry-login.ts";
import { awsDomains } from "../partitions.ts";

const anyDomain = [...awsDomains, "on.aws"].map((domain) => domain.replaceAll(".", "\\.")).join("|");
/**
 * Flux's expression (reference sources 5.2), which its message quotes, except that it matches the whole host and an account of 12 digits: by Flux's
 * own, `….amazonaws.com.evil.example` would get the region's token. The second group is the region.
 */
const expression = `^([0-9]{12})\\.dkr[.-]ecr(?:-fips)?\\.([a-z0-9-]+)\\.(?:${anyDomain})(?::443)?$`;
const pattern = new RegExp(expression);

const publicHost = "public.ecr.aws";

/** The region of a registry of ECR by its host. Throws a {@link RegistryLoginError} with Flux's text for any other host. */
export function ecrRegion(host: string): string {
  if (host === publicHost) {
    throw new RegistryLoginError(
      "not-supported",
      `${publicHost} with provider aws is not supported yet: set provider generic, it lets everybody in`,
    );
  }
  const region = pattern.exec(host)?.[2];
  if (region === undefined)
    throw new RegistryLoginError("not-supported", `invalid AWS registry: '${host}'. must match ${expression}`);
  return region;
}

/** Whether this is the whole host of a private registry of ECR. */
export function isEcrHost(host: string): boolean {
  return pattern.test(host);
}

/**
 * ECR's hosts in a region and the bucket that its layers come from, as entries of `network.allow`: with endpoints in the VPC
 * they have private addresses. Only Amazon decides where these names lead; in a whole domain of AWS its customers do, too.
 */
export function ecrEntries(region: string): readonly string[] {
  return [
    `*.dkr-ecr.${region}.on.aws`,
    `*.dkr-ecr-fips.${region}.on.aws`,
    ...awsDomains.flatMap((domain) => [
      `*.dkr.ecr.${region}.${domain}`,
      `*.dkr.ecr-fips.${region}.${domain}`,
      `prod-${region}-starport-layer-bucket.s3.${region}.${domain}`,
    ]),
  ];
}
