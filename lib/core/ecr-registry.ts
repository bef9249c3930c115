import { awsDomains, domainOfRegion } from "./partitions.ts";

/** A private registry of ECR: each account has one in each region. */
interface EcrRegistry {
  readonly account: string;
  readonly region: string;
}

const anyDomain = [...awsDomains, "on.aws"].map((domain) => domain.replaceAll(".", "\\.")).join("|");
/**
 * The hosts of ECR: the usual one, dual-stack, FIPS, both, each with or without its port. It is Flux's expression (reference sources 5.2),
 * except that it matches the whole host and an account of 12 digits: by Flux's own, `….amazonaws.com.evil.example` would get the
 * region's token.
 */
export const ecrHostExpression = `^([0-9]{12})\\.dkr[.-]ecr(?:-fips)?\\.([a-z0-9-]+)\\.(?:${anyDomain})(?::443)?$`;
const pattern = new RegExp(ecrHostExpression);

/** The registry of a host; undefined unless the whole host is one of ECR. */
export function parseEcrHost(host: string): EcrRegistry | undefined {
  const [, account, region] = pattern.exec(host) ?? [];
  return account === undefined || region === undefined ? undefined : { account, region };
}

/** The usual host of a registry. */
export function ecrHost({ account, region }: EcrRegistry): string {
  return `${account}.dkr.ecr.${region}.${domainOfRegion(region)}`;
}

/** One host for each registry: the usual one for all hosts of an ECR registry, and any other host as it is. */
export function canonicalRegistryHost(host: string): string {
  const registry = parseEcrHost(host);
  return registry === undefined ? host : ecrHost(registry);
}

const publicHost = "public.ecr.aws";

/** Why `provider: aws` cannot log in to this host, if it is ECR Public; undefined for any other host. */
export function publicEcrFault(host: string): string | undefined {
  if (host !== publicHost) return undefined;
  return `${publicHost} with provider aws is not supported yet: set provider generic, since it needs no login`;
}
