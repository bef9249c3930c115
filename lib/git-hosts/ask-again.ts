import { HttpError, type HttpResponse } from "../core/ports/http.ts";
import { orDeadline } from "./ask-host.ts";
import type { HostParts } from "./host-settings.ts";

/** When a client of a host asks again. */
export interface Retries {
  readonly maxAttempts: number;
  /** Whether a fault may be temporary. Answers 429 and 5xx but 501 are always asked for again. */
  readonly isGoneSoon: (fault: HttpError) => boolean;
  readonly waitMs: (attempt: number, answer: HttpResponse | undefined) => number;
}

/** The result of the last attempt. */
export interface LastAttempt {
  /** From 1. */
  readonly attempts: number;
  readonly outcome: { readonly answer: HttpResponse } | { readonly fault: Error };
  /** Whether it was given up: another attempt could have helped. */
  readonly isGivenUp: boolean;
}

/** Asks until there is an answer to keep, or the attempts are used up. Throws if the signal is aborted while it waits. */
export async function askAgain(
  ask: () => Promise<HttpResponse>,
  { maxAttempts, isGoneSoon, waitMs }: Retries,
  { sleep }: Pick<HostParts, "sleep">,
  signal: AbortSignal,
): Promise<LastAttempt> {
  for (let attempts = 1; ; attempts++) {
    const outcome = await attempt(ask, signal);
    const isRetried =
      "answer" in outcome
        ? isBusy(outcome.answer)
        : outcome.fault.cause instanceof HttpError && isGoneSoon(outcome.fault.cause) && !signal.aborted;
    if (!isRetried || attempts >= maxAttempts) return { attempts, outcome, isGivenUp: isRetried };
    const ms = waitMs(attempts, "answer" in outcome ? outcome.answer : undefined);
    await orDeadline(signal, () => sleep(ms, signal));
  }
}

async function attempt(ask: () => Promise<HttpResponse>, signal: AbortSignal): Promise<LastAttempt["outcome"]> {
  try {
    return { answer: await orDeadline(signal, ask) };
  } catch (error) {
    if (error instanceof Error && error !== signal.reason) return { fault: error };
    throw error;
  }
}

function isBusy({ status }: HttpResponse): boolean {
  return status === 429 || (status >= 500 && status !== 501);
}
