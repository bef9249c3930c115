/**
 * How Sluice goes on where Flux's text ends: what would mend the failure, and the paths and keys that exist (docs/differences-from-flux.md).
 * Each is a whole end of a line, so that more of Flux's text behind it is compared.
 */
const mends = [
  /; the (?:artifact|chart|Secret) has (?:no|the) [\w ./,-]+$/gm,
  /; it is a file, set spec\.path to its folder [\w./-]+$/gm,
  /; Sluice runs no Helm in a build: use a HelmRelease, or render the chart in CI and commit the manifests$/gm,
  /; Sluice runs no plugins in a build: run them in CI and commit the manifests that they make$/gm,
  /; a build reads no files outside of the artifact: put a copy into it$/gm,
  /; to have it (?:deleted and )?created again, (?:set spec\.force of the Kustomization, or annotate [^\n;]+|delete it with kubectl[^\n;]+)$/gm,
  /; set spec\.type: oci$/gm,
  /; charts of a repository with an index have no signatures: use one of type oci, or remove spec\.verify$/gm,
  /; name a Secret with the keys identity and known_hosts in spec\.secretRef: sluice create secret git makes one$/gm,
  /; spec\.filterTags\.pattern '[^\n]*' matches none of \d+ tags$/gm,
  /; none of \d+ tags is a version in spec\.policy\.semver\.range '[^\n]*'$/gm,
  /; leave such tags out with spec\.filterTags\.pattern, or take the number out of them with spec\.filterTags\.extract$/gm,
  /; the key is '[\w.-]+' of the Secret$/gm,
  / Write only host and port in spec\.endpoint, as in s3\.eu-central-1\.amazonaws\.com$/gm,
  /: it is suspended, resume it with sluice resume (?:hr|ks) [\w.-]+ -n [\w.-]+$/gm,
];

/** A message without the mend that Sluice adds to Flux's text. */
export function withoutMends(text: string): string {
  return mends.reduce((left, mend) => left.replaceAll(mend, ""), text);
}
