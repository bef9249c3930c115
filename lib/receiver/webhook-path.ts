import { createHash } from "node:crypto";

/** What every path of a webhook begins with. */
export const hookPrefix = "/hook/";

/**
 * The path of a Receiver's webhook, as Flux makes it (reference notifications 4): without the token it cannot be guessed.
 *
 * @param token empty for a type without one
 */
export function webhookPath(
  token: Uint8Array,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): string {
  return `${hookPrefix}${createHash("sha256").update(token).update(name).update(namespace).digest("hex")}`;
}

/** Whether a request's path and query may be that of a webhook: no other is looked up. */
export function isWebhookPath(uri: string): boolean {
  return /^\/hook\/[0-9a-f]{64}$/.test(uri);
}
