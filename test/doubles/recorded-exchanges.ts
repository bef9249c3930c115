import { readFileSync } from "node:fs";
import { z } from "zod";
import type { Http, HttpRequest } from "../../lib/core/ports/http.ts";

const Exchange = z.object({
  request: z.object({
    method: z.string(),
    url: z.string(),
    headers: z.record(z.string(), z.string()),
    json: z.unknown().optional(),
    form: z.record(z.string(), z.string()).optional(),
  }),
  answer: z.object({ status: z.number(), json: z.unknown() }),
});
type Exchange = z.output<typeof Exchange>;

export interface RecordedExchanges extends Http {
  /** The requests as they came. */
  readonly seen: readonly HttpRequest[];
}

/**
 * Answers requests by the exchanges of a file of test/fixtures/sops-keys/exchanges; `<signed>` in a recorded form stands for
 * any value. A request that no exchange has is answered by 404 with what was asked for.
 */
export function recordedExchanges(...names: readonly string[]): RecordedExchanges {
  const exchanges = names.flatMap((name) => {
    const file = new URL(`../fixtures/sops-keys/exchanges/${name}.json`, import.meta.url);
    return z.array(Exchange).parse(JSON.parse(readFileSync(file, "utf8")));
  });
  return exchangesOf(exchanges);
}

/** One answer to whatever is asked. */
export function answering(status: number, json: unknown): RecordedExchanges {
  return exchangesOf([], { status, json });
}

function exchangesOf(exchanges: readonly Exchange[], otherwise?: Exchange["answer"]): RecordedExchanges {
  const seen: HttpRequest[] = [];
  return {
    seen,
    async send(request, signal) {
      signal.throwIfAborted();
      seen.push(request);
      const { answer } = exchanges.find((exchange) => isSame(exchange.request, request)) ?? {
        answer: otherwise ?? { status: 404, json: { errors: [`unexpected ${request.method} ${request.url}`] } },
      };
      const body = typeof answer.json === "string" ? answer.json : JSON.stringify(answer.json);
      return { url: request.url, status: answer.status, headers: {}, body: Buffer.from(body) };
    },
  };
}

function isSame({ method, url, headers, json, form }: Exchange["request"], request: HttpRequest): boolean {
  if (request.method !== method || request.url !== url) return false;
  if (!Object.entries(headers).every(([name, value]) => request.headers?.[name] === value)) return false;
  const body = Buffer.from(request.body ?? "").toString();
  if (form === undefined) return body === JSON.stringify(json);
  const given = Object.fromEntries(new URLSearchParams(body));
  const names = new Set([...Object.keys(form), ...Object.keys(given)]);
  return [...names].every((name) => (form[name] === "<signed>" ? name in given : form[name] === given[name]));
}
