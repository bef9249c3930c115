import type { Http, HttpRequest, HttpResponse } from "../../../../lib/core/ports/http.ts";
import { HttpError } from "../../../../lib/core/ports/http.ts";
import type { Phase } from "../../../../lib/sources/bucket/phase.ts";

/** What a server answers: a status, headers and a text. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** HTTP without a network: `answer` is asked for each request. A body that is too long is an error, as by the port's contract. */
export function recordedHttp(answer: (request: HttpRequest) => Answer) {
  const sent: HttpRequest[] = [];
  const http: Http = {
    async send(request): Promise<HttpResponse> {
      sent.push(request);
      const { status = 200, headers = {}, body = "" } = answer(request);
      const bytes = Buffer.from(body);
      if (bytes.length > request.maxBytes) {
        throw new HttpError("too-large", `GET ${request.url}: the answer is longer than ${request.maxBytes} bytes`);
      }
      return { url: request.url, status, headers, body: bytes };
    },
  };
  return { http, sent };
}

/** A phase that has this much time left. */
export function phase(leftMs = 60_000): Phase {
  return { signal: new AbortController().signal, leftMs: () => leftMs };
}

/** All objects of a listing. */
export async function allOf<Item>(pages: AsyncIterable<readonly Item[]>): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const page of pages) found.push(...page);
  return found;
}
