import type { KustomizationSpec } from "./kustomization-spec.ts";
import type { OciRepositorySpec } from "./oci-repository-spec.ts";

/**
 * Fields of this spec that the API accepts and Sluice does not do yet, for example `spec.decryption`. A field whose value
 * asks for nothing (an empty list, a default) is none of them. Never leave one out in silence: it may guard something.
 */
export function unsupportedKustomizationFields(spec: KustomizationSpec): readonly string[] {
  const { postBuild } = spec;
  const substitutes =
    isSet(postBuild?.substitute) || isSet(postBuild?.substituteFrom) || postBuild?.substituteStrategy === "Always";
  return named({
    "spec.sourceRef.kind": spec.sourceRef.kind !== "OCIRepository",
    "spec.postBuild": substitutes,
    "spec.decryption": isSet(spec.decryption),
    "spec.serviceAccountName": isSet(spec.serviceAccountName),
    "spec.serviceAccount": isSet(spec.serviceAccount),
    "spec.kubeConfig": isSet(spec.kubeConfig),
    "spec.ignore": isSet(spec.ignore),
    "spec.healthCheckExprs": isSet(spec.healthCheckExprs),
    ...Object.fromEntries(
      (spec.dependsOn ?? []).map(({ readyExpr }, index) => [`spec.dependsOn[${index}].readyExpr`, isSet(readyExpr)]),
    ),
  });
}

/** As {@link unsupportedKustomizationFields}, for an OCIRepository. @param clouds providers that we have an identity of. */
export function unsupportedOciRepositoryFields(
  { provider, ...spec }: OciRepositorySpec,
  clouds: readonly OciRepositorySpec["provider"][] = [],
): readonly string[] {
  return named({
    "spec.verify": isSet(spec.verify),
    "spec.proxySecretRef": isSet(spec.proxySecretRef),
    // A secret wins over the identity of a cloud, which is then never asked for.
    "spec.provider": provider !== "generic" && !clouds.includes(provider) && !isSet(spec.secretRef),
  });
}

function isSet(value: string | object | undefined): boolean {
  return value !== undefined && value !== "" && Object.keys(value).length > 0;
}

function named(unsupported: Readonly<Record<string, boolean>>): readonly string[] {
  return Object.keys(unsupported).filter((field) => unsupported[field]);
}
