import type { Clock } from "../core/ports/clock.ts";
import type { Proxy } from "../core/ports/dial.ts";
import type { Http, TlsTrust } from "../core/ports/http.ts";
import type { GitHubAppLogins } from "../sources/git/github-app.ts";

/** A GitHub App of the keys `githubApp…` of a Secret. */
export interface GithubApp {
  readonly appId: string;
  readonly privateKey: string;
  readonly installationId?: string;
  readonly installationOwner?: string;
  readonly baseUrl?: string;
}

/** The App in a Secret; undefined if it has none. */
export function githubAppIn(data: ReadonlyMap<string, string>): GithubApp | undefined {
  const appId = data.get("githubAppID");
  const privateKey = data.get("githubAppPrivateKey");
  if (appId === undefined || privateKey === undefined) return undefined;
  const installationId = data.get("githubAppInstallationID");
  const installationOwner = data.get("githubAppInstallationOwner");
  const baseUrl = data.get("githubAppBaseURL");
  return {
    appId,
    privateKey,
    ...(installationId === undefined ? {} : { installationId }),
    ...(installationOwner === undefined ? {} : { installationOwner }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
  };
}

/** A repository on a git host, and how to log in to the API of the host. */
export interface HostSettings {
  /** Of the repository. */
  readonly address: string;
  /** Counts where there is no token. */
  readonly password: string;
  /** As the Secret has it, untrimmed; empty if there is none. */
  readonly token: string;
  readonly proxy?: Proxy;
  readonly tls?: TlsTrust;
  readonly githubApp?: GithubApp;
}

/** The settings and parts that a client of a git host needs. */
export interface HostParts {
  /** Checks each address against the network policy. */
  readonly http: Http;
  /** Milliseconds since 1970. */
  readonly now: Clock["now"];
  /** Waits between two attempts. Throws the reason of the signal if it is aborted first. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Keeps tokens of GitHub Apps from one use to the next. Without it each client asks for its own. */
  readonly githubApps?: GitHubAppLogins;
}

/** A login failed, or the question who the user is: nothing was asked of the repository yet. */
export class HostSetupError extends Error {
  override readonly name = "HostSetupError";
}
