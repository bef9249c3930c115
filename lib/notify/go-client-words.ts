import type { HttpError } from "../core/ports/http.ts";
import type { Sent } from "./follow-redirects.ts";

/** `Post "https://example.com/hook"`, as Go's client names a request. */
export function quotedRequest({ method, url }: Pick<Sent, "method" | "url">): string {
  return `${method === "POST" ? "Post" : "Put"} ${JSON.stringify(shownUrl(url))}`;
}

/** Without its query and user, which often are the credential. */
export function shownUrl(url: string): string {
  return url.replace(/[?#].*$/s, "").replace(/^([a-z][a-z\d+.-]*:\/\/)[^/]*@/i, "$1");
}

const brokenOff = "the answer broke off: ";

/** What Go's client says where there is no answer: with the URL that a redirect led to. @param address the URL of the request as errors name it */
export function goClientWords(error: HttpError, request: Sent, address: string): string {
  const [, at = address, why = error.message] = /^[A-Z]+ (\S+): (.*)$/s.exec(error.message) ?? [];
  return `${quotedRequest({ ...request, url: at === address ? request.url : at })}: ${goReason(error, why)}`;
}

function goReason({ reason }: HttpError, why: string): string {
  if (reason === "timeout") return "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
  // Node's words, and those of our client.
  if (why === "socket hang up") return "EOF";
  return why === "too many redirects" ? "stopped after 10 redirects" : why;
}

/** Go's client reads the body of an answer after it has decided about retries. Throws for one that does not end as it should. */
export function throwIfCutOff(error: HttpError): void {
  const [, why = ""] = /^[A-Z]+ \S+: (.*)$/s.exec(error.message) ?? [];
  const isCutOff = error.reason === "protocol" && why.startsWith(brokenOff);
  if (isCutOff) throw new Error("error reading body: unexpected EOF", { cause: error });
  if (error.reason === "too-large") throw new Error(`error reading body: ${why}`, { cause: error });
}
