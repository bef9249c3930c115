import { ecrHostExpression, parseEcrHost, publicEcrFault } from "../../core/ecr-registry.ts";
import { awsDomains } from "../../core/partitions.ts";
import { RegistryLoginError } from "../../core/ports/registry-login.ts";

/** The region of a registry of ECR by its host. Throws a {@link RegistryLoginError} with Flux's text for any other host. */
export function ecrRegion(host: string): string {
  const fault = publicEcrFault(host);
  if (fault !== undefined) throw new RegistryLoginError("not-supported", fault);
  const region = parseEcrHost(host)?.region;
  if (region === undefined)
    throw new RegistryLoginError("not-supported", `invalid AWS registry: '${host}'. must match ${ecrHostExpression}`);
  return region;
}

/** Whether this is the whole host of a private registry of ECR. */
export function isEcrHost(host: string): boolean {
  return parseEcrHost(host) !== undefined;
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
