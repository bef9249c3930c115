import { RegistryLoginError } from "../../core/ports/registry-login.ts";

/** Flux's, which is not anchored (reference sources 5.2): the text is part of the message, the second group is the region. */
const expression =
  "([0-9+]*).dkr[.-]ecr(?:-fips)?\\.([^/.]*)\\.(amazonaws\\.com[.cn]*|amazonaws\\.eu|sc2s\\.sgov\\.gov|c2s\\.ic\\.gov|cloud\\.adc-e\\.uk|csp\\.hci\\.ic\\.gov|on\\.aws)";
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
