import { request as send } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import type { Delivery } from "./given-recordings.ts";

/**
 * Sends recorded requests to a receiver, one after the other, and expects the recorded answers.
 *
 * @param receiver `http://HOST:PORT`
 */
export async function deliver(requests: readonly Delivery[], receiver: string, signal: AbortSignal): Promise<void> {
  for (const { request, answer, why = "" } of requests) {
    const sent = `${why} ${request.method} ${request.path}`;
    expect({ sent, ...(await answerTo(request, receiver, signal)) }).toEqual({ sent, ...answer });
  }
}

type Answer = Delivery["answer"];

/** With the very headers of the recording: `fetch` adds a type to a body that has none. */
function answerTo(
  { method, path, headers, body }: Delivery["request"],
  receiver: string,
  signal: AbortSignal,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const { hostname, port } = new URL(receiver);
  const request = send({ hostname, port, method, path, headers, signal }, (response) => {
    const { statusCode: status = 0, headers: answered } = response;
    const type = answered["content-type"];
    text(response).then((read) => resolve({ status, ...(type === undefined ? {} : { type }), body: read }), reject);
  });
  request.on("error", reject).end(body);
  return promise;
}
