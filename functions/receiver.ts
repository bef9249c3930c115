import { Hono } from "hono";
import { messageOf } from "../lib/core/failure.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Metrics } from "../lib/core/ports/metrics.ts";
import { redirectOf } from "../lib/receiver/clean-path.ts";
import { type IncomingRequest, maxBodyBytes } from "../lib/receiver/delivery.ts";
import { firstContacts } from "../lib/receiver/first-contact.ts";
import { type DeliveryDeps, handleDelivery } from "../lib/receiver/handle-delivery.ts";
import { refusalLog } from "../lib/receiver/refusal-log.ts";

/**
 * Answers a request: within {@link answerWithinMs} of the end of its body if it is not authentic ({@link firstAnswerWithinMs} in a
 * process that has just started), else within {@link wakeWithinMs}. Never throws.
 */
export type Receive = (request: IncomingRequest) => Promise<Response>;

/** So long a request that proves nothing may keep us busy. */
export const answerWithinMs = 900;
/**
 * The same while a process needs the state or a cluster for the first time: a cold start logs in and opens connections, and a sender that
 * is answered 500 may not come again. Senders wait ten seconds, of which the start has taken some.
 */
export const firstAnswerWithinMs = 5_000;
/**
 * For one that is authentic, from the same moment. A sender waits ten seconds at most, and GitHub does not send again: what it asked
 * for is done although the answer is no longer read. Lambda ends the function after 18 s.
 */
export const wakeWithinMs = 15_000;

const answerTimes = { authenticMs: answerWithinMs, firstAuthenticMs: firstAnswerWithinMs, wokenMs: wakeWithinMs };

export type WebhookDeps = Omit<DeliveryDeps, "isFirstContact" | "refused"> & {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly metrics: Metrics;
};

/**
 * The webhooks, by the order of steps that Flux has (reference notifications 5 and 23). Any method is taken.
 *
 * @param times given by tests whose machine may be slow
 */
export function receiveWebhooks(given: WebhookDeps, times = answerTimes): Receive {
  const deps = { ...given, refused: refusalLog(given), isFirstContact: firstContacts(given.clock) };
  const app = new Hono<{ Bindings: { request: IncomingRequest } }>();
  app.all("/hook/*", async ({ env: { request } }) => answer(await statusOf(request, deps, times)));
  app.notFound(() => notFound());
  app.onError((error) => {
    deps.log.error("webhook not handled", { error: messageOf(error) });
    return answer(500);
  });
  return async (request) => {
    const url = `http://receiver${request.uri}`;
    if (!request.uri.startsWith("/") || !URL.canParse(url)) return notFound();
    const location = redirectOf(request.uri);
    if (location !== undefined) return new Response(null, { status: 307, headers: { location } });
    return app.fetch(new Request(url), { request });
  };
}

async function statusOf(request: IncomingRequest, deps: DeliveryDeps, times: typeof answerTimes): Promise<number> {
  const body = await readBody(request);
  if (typeof body === "number") return body;
  using authentic = deadline(times.authenticMs);
  using first = deadline(times.firstAuthenticMs);
  using woken = deadline(times.wokenMs);
  try {
    const delivery = { ...withHeaders(request), body };
    const deadlines = { authentic: authentic.signal, firstAuthentic: first.signal, woken: woken.signal };
    return await handleDelivery(delivery, deps, deadlines);
  } catch (error) {
    deps.log.error("webhook not handled", { error: messageOf(error) });
    return 500;
  }
}

function deadline(ms: number): Disposable & { readonly signal: AbortSignal } {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error("no answer in time")), ms);
  return { signal: late.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}

function withHeaders(request: IncomingRequest): Pick<IncomingRequest, "uri" | "header"> {
  return { uri: request.uri, header: (name) => request.header(name) };
}

/** The body, or the status for one that is too large or does not end. */
async function readBody({ body }: IncomingRequest): Promise<Uint8Array | 400 | 413> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const part of body) {
      bytes += part.length;
      if (bytes > maxBodyBytes) return 413;
      parts.push(part);
    }
    return Buffer.concat(parts);
  } catch {
    return 400;
  }
}

/** Below /hook/ no answer has a body. */
function answer(status: number): Response {
  return new Response(null, { status });
}

function notFound(): Response {
  return new Response("404 page not found\n", {
    status: 404,
    headers: { "content-type": "text/plain; charset=utf-8" },
  });
}
