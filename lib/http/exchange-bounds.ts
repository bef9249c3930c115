import type { ClientRequest } from "node:http";
import { maxTimerMs } from "../core/duration.ts";
import type { HttpRequest } from "../core/ports/http.ts";
import { failed } from "./http-failure.ts";

/** What ends an exchange early: its time limit, or the signal of its caller. */
export interface Bounds {
  /** For what connects on behalf of the exchange. */
  readonly signal: AbortSignal;
  /** The request that they destroy from now on; its answer too. */
  end(outgoing: ClientRequest): void;
  /** The exchange is over: nothing ends it any more. */
  release(): void;
  /**
   * Throws the reason of the caller's signal, or the `HttpError` of the time limit, if one of them has ended it.
   *
   * @param hasHead whether the head of an answer had arrived; false by default
   */
  throwIfEnded(cause: unknown, hasHead?: boolean): void;
}

/** Made once: an error has a stack, and {@link Bounds.throwIfEnded} tells the cause. */
const ended = new Error("the exchange has ended");

/**
 * The bounds of a request. Not `AbortSignal.any` of two signals and Node's option `signal`, which cost as much as the rest of the request, and
 * keep what they made until the garbage is collected.
 */
export function boundsOf(request: HttpRequest, signal: AbortSignal): Bounds {
  signal.throwIfAborted();
  let hasTimedOut = false;
  let isOver = false;
  let outgoing: ClientRequest | undefined;
  let connecting: AbortController | undefined;
  const release = (): void => {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    // What is left of an exchange would else keep its request, and V8 both for long.
    outgoing = undefined;
  };
  const end = (): void => {
    isOver = true;
    const begun = outgoing;
    release();
    connecting?.abort(ended);
    begun?.destroy(ended);
  };
  const onTime = (): void => {
    hasTimedOut = true;
    end();
  };
  const timer = setTimeout(onTime, Math.min(request.timeoutMs, maxTimerMs)).unref();
  signal.addEventListener("abort", end, { once: true });
  return {
    get signal() {
      connecting ??= new AbortController();
      return connecting.signal;
    },
    end: (next) => {
      outgoing = next;
      // Ended between two requests, as while the code for a proxy was loaded.
      if (isOver) next.destroy(ended);
    },
    release,
    throwIfEnded(cause, hasHead = false) {
      signal.throwIfAborted();
      if (!hasTimedOut) return;
      const why = `no answer within ${request.timeoutMs} ms`;
      throw failed("timeout", request, new URL(request.url), why, cause, hasHead);
    },
  };
}
