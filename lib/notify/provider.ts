import type { Dial, Proxy } from "../core/ports/dial.ts";
import type { Http, TlsTrust } from "../core/ports/http.ts";
import type { GitHubAppLogins } from "../sources/git/github-app.ts";
import type { NotificationEvent } from "./notification-event.ts";

/** A GitHub App of the keys `githubApp…` of a Provider's Secret. */
export interface GithubApp {
  readonly appId: string;
  readonly privateKey: string;
  readonly installationId?: string;
  readonly installationOwner?: string;
  readonly baseUrl?: string;
}

/** A Provider with its Secrets read: all that an implementation of a type may use. */
export interface ProviderSettings {
  readonly type: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** Of the Secret, else of the spec; empty if neither has one. */
  readonly address: string;
  readonly channel: string;
  readonly username: string;
  readonly password: string;
  /** As the Secret has it, untrimmed; empty if there is none. */
  readonly token: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly proxy?: Proxy;
  readonly tls?: TlsTrust;
  readonly githubApp?: GithubApp;
  /** Keys `creds` and `nkey`, for NATS. */
  readonly secret: Readonly<Record<string, string>>;
  /** Result of `commitStatusExpr` or the default ID `<kind>/<name>/<first part of the UID>`; only for commit status types. */
  readonly commitStatus?: string;
  /** The Alert that the message is for. OTEL makes its trace of it. */
  readonly alert: { readonly name: string; readonly namespace: string; readonly uid: string };
}

/**
 * A failure of what Flux does while it sets a provider up, which here is part of `post`: a login, or the question who the user is. It
 * counts as "setup", so its text stands behind `failed to initialize notifier: `.
 */
export class ProviderSetupError extends Error {
  override readonly name = "ProviderSetupError";
}

/** Whether the text of what `post` threw stands behind `failed to dispatch notification for …`, and not behind `failed to send …`. */
export function isSetupFailure(error: unknown): boolean {
  return error instanceof ProviderSetupError;
}

/** Sends one message for an event whose metadata is merged and has no prefixes. Throws what goes wrong in Flux's words. */
export interface NotificationProvider {
  post(event: NotificationEvent, signal: AbortSignal): Promise<void>;
}

/** Makes the provider of one type. Throws in Flux's words what is wrong with the settings ("setup" errors). */
export type MakeProvider = (settings: ProviderSettings, parts: ProviderParts) => NotificationProvider;

/** What the implementation of a type works with. */
export interface ProviderParts {
  /** Checks each address against the network policy. */
  readonly http: Http;
  /** For types that are not HTTP, by the same network policy. */
  readonly dial: Dial;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Waits between two attempts. Throws the reason of the signal if it is aborted first. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Keeps tokens of GitHub Apps from one message to the next. Without it each provider asks for its own. */
  readonly githubApps?: GitHubAppLogins;
}
