import { Failure, messageOf } from "../../core/failure.ts";
import { CheckoutFault } from "../../sources/git/checkout/checkout-fault.ts";
import { GitFault } from "../../sources/git/git-fault.ts";

const determined = "failed to checkout and determine revision";

/** Flux's words (those of go-git), with the server's text after the colon, where Flux has nothing. */
const wordsOfFlux: Readonly<Partial<Record<GitFault["reason"], string>>> = {
  authentication: "authentication required: ",
  authorization: "authorization failed: ",
  "not-found": "repository not found: ",
};

/** The fault of a repository, in Flux's words. Any other error (a bug, the end of the run) is answered unchanged. */
export function gitFailure(error: unknown, doing: string, signal: AbortSignal): unknown {
  signal.throwIfAborted();
  if (error instanceof GitFault) {
    return new Failure("GitOperationFailed", `${determined}: ${doing}: ${gitWords(error)}`, { cause: error });
  }
  if (error instanceof CheckoutFault) return revisionFailure(messageOf(error), error);
  return error;
}

/** What a git server did not provide, in Flux's words. Over ssh the texts are those of Go's client. */
export function gitWords({ message, reason }: GitFault): string {
  return message.startsWith("ssh: ") ? message : (wordsOfFlux[reason] ?? message);
}

/** No revision was found or taken. */
export function revisionFailure(why: string, cause?: unknown): Failure {
  return new Failure("GitOperationFailed", `${determined}: ${why}`, { cause });
}

/** The URL for people: without a password, and over http without a user or what follows a `?`, which may be a token. */
export function shownUrl(given: string): string {
  // Where a URL that cannot be read has its login is not known: nothing before the last @ is shown.
  const readable = URL.canParse(given) ? given : given.replace(/\/\/.*@/s, "//");
  const url = readable.replace(/^(https?:[^?#]*)[?#].*$/s, "$1?…");
  if (!URL.canParse(url)) return url;
  const { username, password } = new URL(url);
  const isLogin = password !== "" || (username !== "" && !url.startsWith("ssh:"));
  return isLogin ? url.replace(/^([a-z]+:\/\/)\/*[^/]*@/i, "$1") : url;
}
