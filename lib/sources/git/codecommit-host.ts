import { GitLoginError } from "../../core/ports/git-login.ts";

/** Flux's rule (auth/aws, `getRegionFromCodeCommitURL`), except that the region is one label of letters, digits and hyphens. */
const host = /^git-codecommit(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$/;

/** The region of a repository of CodeCommit by its URL. Throws a {@link GitLoginError} with Flux's texts for any other. */
export function codeCommitRegion(url: URL): string {
  if (url.protocol !== "https:") {
    throw new GitLoginError("not-supported", "AWS CodeCommit authentication requires an HTTPS Git URL");
  }
  const region = host.exec(url.hostname)?.[1];
  if (region === undefined || url.port !== "") {
    throw new GitLoginError("not-supported", `invalid AWS CodeCommit Git URL: ${url.host}`);
  }
  return region;
}

/** Whether this is the whole host of CodeCommit in a region. */
export function isCodeCommitHost(text: string): boolean {
  return host.test(text);
}
