import { Failure } from "../../core/failure.ts";
import { goUrlFault } from "../../core/go-url-fault.ts";

/** Throws a `Failure` `URLInvalid` with Flux's text for a URL without an index. */
export function checkRepositoryUrl(url: string): void {
  const invalid = (why: string) => new Failure("URLInvalid", `invalid Helm repository URL: ${why}`);
  if (url.startsWith("oci://")) {
    throw invalid("'oci' URL scheme cannot be used with 'default' HelmRepository type; set spec.type: oci");
  }
  const fault = goUrlFault(url);
  const shown = JSON.stringify(shownUrl(url));
  if (fault !== undefined) throw invalid(`parse ${shown}: ${fault}`);
  if (!URL.canParse(url)) throw invalid(`parse ${shown}: it has no valid host or port`);
}

/** A URL without what may be secret in it: login and query. */
export function shownUrl(url: string): string {
  return url.replace(/^([a-z]+:\/\/)[^/?#]*@/i, "$1").replace(/\?.*$/s, "?…");
}
