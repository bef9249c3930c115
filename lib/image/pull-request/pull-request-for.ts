import { Failure } from "../../core/failure.ts";
import type { MessageEngine } from "../../core/ports/message-engine.ts";
import type { HostParts, HostSettings } from "../../git-hosts/host-settings.ts";
import type { MessageOf } from "../commit-message.ts";
import { type EnsuredRequest, ensurePullRequest } from "./ensure-pull-request.ts";
import { asksForPullRequest, pullRequestAnnotation } from "./find-host.ts";
import { hostLogin } from "./login.ts";
import type { Branches } from "./request-host.ts";
import { requestText } from "./request-text.ts";

/** Names a Secret with a login for the API of the host, where that of the GitRepository has none: a key for ssh, for example. */
export const secretAnnotation = "sluice.dev/pull-request-secret";

/** The pushed branch, and the access to the git host. */
export interface PushedBranch extends Branches, Pick<HostSettings, "proxy" | "tls"> {
  /** Of the automation. */
  readonly annotations: Readonly<Record<string, string>>;
  /** URL of the GitRepository. */
  readonly address: string;
  /** The Secret that {@link secretAnnotation} names, else that of the GitRepository; empty without one. */
  readonly secret: ReadonlyMap<string, string>;
  /** Of the commit. */
  readonly message: string;
  readonly of: MessageOf;
}

/**
 * Opens or changes the pull request for what was pushed, where the annotation asks for one; undefined where it does not. It may be
 * repeated.
 *
 * @throws Failure of reason `GitOperationFailed`, or the reason that `signal` was aborted with
 */
export async function pullRequestFor(
  { address, annotations, base, head, message, of, secret, ...way }: PushedBranch,
  { engine, ...parts }: HostParts & { readonly engine: MessageEngine },
  signal: AbortSignal,
): Promise<EnsuredRequest | undefined> {
  const host = annotations[pullRequestAnnotation];
  if (host === undefined || !asksForPullRequest(host)) return undefined;
  const login = hostLogin(secret);
  if (login.token === "" && login.password === "" && login.githubApp === undefined) {
    const why = "there is no token for the API of the host";
    const mend = `name a Secret with the key token in the annotation ${secretAnnotation}`;
    throw new Failure("GitOperationFailed", `failed to open the pull request from ${head} to ${base}: ${why}: ${mend}`);
  }
  const text = await requestText(message, annotations, of, engine, signal);
  const wanted = { head, base, ...text, automation: of.automation, host };
  return ensurePullRequest(wanted, { ...way, ...login, address }, parts, signal);
}
