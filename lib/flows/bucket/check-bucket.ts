import { type BucketSpec, bucketCombinationFault, unsupportedBucketFields } from "../../api/bucket.ts";
import { Failure } from "../../core/failure.ts";
import { goUrlFault } from "../../core/go-url-fault.ts";
import { endpointFault, endpointHost, hostOf, isAmazonS3, isRegion } from "../../sources/bucket/s3-endpoint.ts";

/** Refuses a spec before its run begins (reference sources 8.2): what only a change of it can mend. Throws a {@link Failure}. */
export function checkBucket(spec: BucketSpec): void {
  const fields = unsupportedBucketFields(spec);
  if (fields.length > 0) {
    const mend = "remove it, or leave this Bucket to Flux until it is";
    throw new Failure("UnsupportedField", `${fields.join(", ")} is not supported yet: ${mend}`);
  }
  checkCombinations(spec);
}

function checkCombinations(spec: BucketSpec): void {
  const { provider, serviceAccountName = "", sts } = spec;
  if (sts !== undefined) {
    const isRight =
      (provider === "aws" && sts.provider === "aws") || (provider === "generic" && sts.provider === "ldap");
    if (!isRight) {
      const why = `STS provider '${sts.provider}' is not supported for '${provider}' bucket provider`;
      throw new Failure("InvalidSTSConfiguration", why);
    }
    const fault = goUrlFault(sts.endpoint) ?? (URL.canParse(sts.endpoint) ? undefined : "it has no valid host or port");
    if (fault !== undefined)
      throw new Failure("URLInvalid", `failed to parse STS endpoint '${sts.endpoint}': ${fault}`);
  }
  const combination = bucketCombinationFault(spec);
  if (combination !== undefined) throw new Failure("InvalidSpec", combination);
  if (serviceAccountName !== "") {
    const gate = "please enable the ObjectLevelWorkloadIdentity feature gate in the controller";
    const why = `to use spec.serviceAccountName for provider authentication ${gate}`;
    throw new Failure("FeatureGateDisabled", why);
  }
  if (provider === "generic" || provider === "aws") {
    // Empty is unset, as in Flux.
    const region = spec.region === "" ? undefined : spec.region;
    if (region !== undefined && !isRegion(region)) {
      const right = "1 to 64 letters, digits and hyphens, for example eu-central-1";
      throw new Failure("URLInvalid", `spec.region must be ${right}`);
    }
    refuseUnsafeLogin(spec, region);
  }
}

/** With our own identity, the way to the bucket has to be protected by TLS as the system trusts it, and to end at Amazon. */
function refuseUnsafeLogin({ provider, secretRef, ...spec }: BucketSpec, region: string | undefined): void {
  if (provider !== "aws" || secretRef !== undefined) return;
  const endpoint = endpointHost(spec.endpoint);
  const unsafe = [
    ...(spec.insecure === true ? ["spec.insecure"] : []),
    ...(spec.certSecretRef === undefined ? [] : ["spec.certSecretRef"]),
    ...(spec.proxySecretRef === undefined ? [] : ["spec.proxySecretRef"]),
  ];
  const [field] = unsafe;
  const mend = "log in with a secretRef";
  if (field !== undefined) {
    const why = "cannot be set with provider aws, which signs requests for AWS alone";
    throw new Failure("InvalidProviderConfiguration", `${field} ${why}: remove it, or ${mend}`);
  }
  // What is no host at all is refused before the login, in Flux's words.
  if (isAmazonS3(hostOf(endpoint, region)) || endpointFault(endpoint) !== undefined) return;
  const [what, right] = isAmazonS3(endpoint)
    ? [`spec.region '${region ?? ""}' is not a region`, "one such as eu-central-1"]
    : [`spec.endpoint '${endpoint}' is not a host`, "s3.<region>.amazonaws.com"];
  const why = `${what} of Amazon S3, and only its hosts see signatures of provider aws`;
  throw new Failure("InvalidProviderConfiguration", `${why}: write ${right}, or ${mend}`);
}
