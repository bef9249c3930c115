import { z } from "zod";

/** What Lambda tells of an invocation, as far as it is read. */
interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

type Handle<Result> = (event: unknown, signal: AbortSignal) => Promise<Result>;

/**
 * A handler as Lambda calls it. `start` makes what stands behind it, at the first invocation and again where it failed; the
 * signal is aborted so long before Lambda would end the process.
 */
export function lambdaHandler<Result>(
  start: (signal: AbortSignal) => Promise<Handle<Result>>,
  reserveMs: number,
): (event: unknown, context: LambdaContext) => Promise<Result> {
  let started: Handle<Result> | undefined;
  return async (event, context) => {
    const remainingMs = z.number().parse(context.getRemainingTimeInMillis());
    using limit = deadline(remainingMs - reserveMs);
    started ??= await start(limit.signal);
    return await started(event, limit.signal);
  };
}

function deadline(ms: number): Disposable & { readonly signal: AbortSignal } {
  const limit = new AbortController();
  // Not AbortSignal.timeout, whose timer would wait on, frozen, into the next invocation.
  const timer = setTimeout(() => limit.abort(new Error("the invocation's time is up")), Math.max(0, ms));
  return { signal: limit.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}
