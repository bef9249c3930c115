import { PortError } from "../../core/ports/port-error.ts";

/**
 * Why nothing came of a conversation with a git server.
 *
 * - `authentication`: it wants credentials, or does not take ours (401). `authorization`: it knows us and says no (403).
 * - `not-found`: no repository at this address. `missing`: the repository has no such object, or no longer.
 * - `refused`: the network policy forbids the address, and no connection was tried. Of a push: the server did not take it.
 * - `moved`: of a push, a reference no longer names the commit that it named when the clone was opened. Nothing was changed.
 * - `unreachable`, `timeout`, `tls`, `host-key`: no connection, no answer in time, a certificate or host key that is not trusted.
 * - `unavailable`: the server cannot answer now (429, 5xx). `unsupported`: it speaks what we do not (dumb HTTP, SHA-256).
 * - `protocol`: the answer is not git's, it broke off, or a pack is damaged. `too-large`: a limit of {@link GitLimits}.
 * - `tree`: a tree has a name that no folder of ours may have; the message names its path.
 */
export type GitFaultReason =
  | "authentication"
  | "authorization"
  | "host-key"
  | "missing"
  | "moved"
  | "not-found"
  | "protocol"
  | "refused"
  | "timeout"
  | "tls"
  | "too-large"
  | "tree"
  | "unavailable"
  | "unreachable"
  | "unsupported";

/**
 * A git server does not give or take what it was asked to. The message holds no credential, and no text of the server but
 * for a push that it did not take: there its words are masked and cut.
 */
export class GitFault extends PortError<GitFaultReason> {
  override readonly name = "GitFault";
}
