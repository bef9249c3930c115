import type { Dial } from "../core/ports/dial.ts";
import { type HostParts, type HostSettings, HostSetupError } from "../git-hosts/host-settings.ts";
import type { NotificationEvent } from "./notification-event.ts";

/** A Provider with its Secrets read: all that an implementation of a type may use. */
export interface ProviderSettings extends HostSettings {
  readonly type: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** The address in the Secret, else in the spec; empty if neither has one. */
  readonly address: string;
  readonly channel: string;
  readonly username: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Keys `creds` and `nkey`, for NATS. */
  readonly secret: Readonly<Record<string, string>>;
  /** Result of `commitStatusExpr` or the default ID `<kind>/<name>/<first part of the UID>`; only for commit status types. */
  readonly commitStatus?: string;
  /** The Alert that the message is for. OTEL makes its trace of it. */
  readonly alert: { readonly name: string; readonly namespace: string; readonly uid: string };
}

/**
 * Whether the text of what `post` threw stands behind `failed to dispatch notification for …`, and not behind `failed to send …`: a failure of
 * what Flux does while it sets a provider up, which here is part of `post`.
 */
export function isSetupFailure(error: unknown): boolean {
  return error instanceof HostSetupError;
}

/** Sends one message for an event whose metadata is merged and has no prefixes. Throws what goes wrong in Flux's words. */
export interface NotificationProvider {
  post(event: NotificationEvent, signal: AbortSignal): Promise<void>;
}

/** Makes the provider of one type. Throws Flux's error for invalid settings ("setup" errors). */
export type MakeProvider = (settings: ProviderSettings, parts: ProviderParts) => NotificationProvider;

/** The settings and parts that the implementation of a type needs. */
export interface ProviderParts extends HostParts {
  /** For types that are not HTTP, by the same network policy. */
  readonly dial: Dial;
}
