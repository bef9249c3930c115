/** Why a step differs: the part of docs/differences-from-flux.md that says so, by its heading, or what is not decided yet. */
export type Why = { readonly part: string } | { readonly open: string };

/** The steps that the two sides are known to end in different ways, by the name of their scenario. */
export const knownDifferences: Readonly<Record<string, Readonly<Record<string, Why>>>> = {
  "an index that is wrong": {
    "that has a generated time that is none": { open: "the reason is the same, IndexationFailed, with another text" },
  },
  "the URL of a repository": {
    "with a query": { part: "Indexes of Helm repositories" },
    "without a host": { open: "the reason is Failed in Flux, URLInvalid in Sluice" },
  },
  "what an index lists": {
    "an archive that is none": { part: "Charts: 93 to 106" },
    "a URL of a scheme that is not supported": { open: "the reason is the same, ChartPullError, with another text" },
    "a URL that is none": { open: "the reason is the same, ChartPullError, with another text" },
    "a wrong digest": { part: "Charts: 93 to 106" },
  },
  "the source of a chart": {
    "of another kind": { part: "Charts: 93 to 106" },
  },
  "charts of an oci repository": {
    "verify keyless": { part: "Signatures of artifacts: 79 to 84" },
    "verify with a key that is none": { part: "Charts: 93 to 106" },
    "verify with a key of nobody": { part: "Charts: 93 to 106" },
  },
  "the registry of a chart": {
    "without insecure": { part: "Charts: 93 to 106" },
    "provider aws of another host": { open: "the reason is the same, Unknown, with another text" },
  },
  "charts of a git repository": {
    "values.yaml that is no YAML": { open: "the reason is the same, ChartPackageError, with another text" },
    "all values files missing and ignored": { part: "Charts: 93 to 106" },
    "a dependency of oci at a closed port": { open: "the reason is the same, DependencyBuildError, with another text" },
  },
  "the reference of a git repository": {
    "a name HEAD": { open: "Ready is False in Flux, True in Sluice (GitOperationFailed)" },
    "a tag and a branch": { open: "only Sluice writes the event AmbiguousReference" },
    "a name and a tag": { open: "only Sluice writes the event AmbiguousReference" },
  },
  "the reference of an artifact": {
    "a tag that is none": { part: "Errors of a registry" },
  },
  "the URL of an artifact": {
    "with a slash at its end": { open: "the reason is OCIArtifactPullFailed in Flux, URLInvalid in Sluice" },
    "with a login": { open: "the reason is the same, URLInvalid, with another text" },
    "of TLS with an unknown authority": { part: "Smaller differences" },
    "TLS with another authority": { part: "Smaller differences" },
  },
  "the login of a registry": {
    "provider aws of another host": { open: "the reason is OCIArtifactPullFailed in Flux, UnsupportedField in Sluice" },
    "provider aws of another host, by a range": {
      open: "the reason is ReadOperationFailed in Flux, UnsupportedField in Sluice",
    },
  },
  "the layers of an artifact": {
    "cut off": { open: "the reason is the same, OCIArtifactLayerOperationFailed, with another text" },
  },
  "the signature of an artifact by cosign": {
    "a key that is none": { open: "the reason is the same, VerificationError, with another text" },
    "a key that is none beside the right one": { open: "Ready is True in Flux, False in Sluice (VerificationError)" },
    "a trust root that is missing": { part: "Signatures of artifacts: 79 to 84" },
    "a trust root without its key": { part: "Signatures of artifacts: 79 to 84" },
    "a trust root that is none": { open: "the reason is the same, VerificationError, with another text" },
  },
  "the signature of an artifact by Notation": {
    "a policy that is none": { open: "the reason is the same, VerificationError, with another text" },
  },
  "what a bucket takes": {
    dots: { part: "Buckets" },
  },
  "the login of a bucket": {
    "empty keys": { open: "the reason is BucketOperationFailed in Flux, AuthenticationFailed in Sluice" },
    "provider gcp with a service account that is none": {
      open: "the reason is the same, AuthenticationFailed, with another text",
    },
    "provider azure with other keys": { open: "the reason is AuthenticationFailed in Flux, URLInvalid in Sluice" },
    "provider azure with half a login": { open: "the reason is BucketOperationFailed in Flux, URLInvalid in Sluice" },
    "provider azure with an account key that is none": {
      open: "the reason is AuthenticationFailed in Flux, URLInvalid in Sluice",
    },
    "sts of ldap at a closed port": { open: "the reason is the same, BucketOperationFailed, with another text" },
  },
};
