import { messageOf } from "../lib/core/failure.ts";
import { maskValues } from "../lib/notify/mask.ts";

/** Runs a command whose errors may repeat a secret that was typed, and hides it in them. */
export async function hidingValues<Result>(values: readonly string[], act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    const message = messageOf(error);
    const masked = maskValues(
      message,
      values.filter((value) => value !== ""),
    );
    if (masked === message) throw error;
    // The cause would show it again.
    // oxlint-disable-next-line preserve-caught-error -- its message has the secret
    throw new Error(masked);
  }
}
