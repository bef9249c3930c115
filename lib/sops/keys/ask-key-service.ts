import type { z } from "zod";
import { messageOf } from "../../core/failure.ts";
import { type Http, HttpError, type HttpRequest } from "../../core/ports/http.ts";
import type { Secret } from "../../core/secret.ts";

/** For one exchange with a key service or its token service. */
export const timeoutMs = 10_000;
/** A token with many groups has a few KiB. */
export const maxAnswerBytes = 256 * 1024;
export const maxQuotedChars = 500;

/** A request to a key service. The body is JSON, or a form if `form` is set. */
export interface KeyServiceQuestion<Answer> {
  readonly method: "POST" | "PUT";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  readonly answer: z.ZodType<Answer>;
  /** The words of a refusal, from its JSON. Undefined if there are none. */
  readonly wordsOf: (body: unknown) => string | undefined;
  /** Values that no error may quote, even if the service's answer does. */
  readonly secrets: readonly Secret[];
}

/** A key service did not answer what was asked for. `status` is 0 if no answer came. No credential and no data key is in the message. */
export class KeyServiceRefusal extends Error {
  override readonly name = "KeyServiceRefusal";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Asks a key service once, by the network policy and without redirects. Throws a {@link KeyServiceRefusal}, or the reason of the
 * signal. The cause is left out: it could hold parts of the answer.
 */
export async function askKeyService<Answer>(
  http: Http,
  { method, url, headers, json, form, answer, wordsOf, secrets }: KeyServiceQuestion<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  const [type, text] =
    form === undefined
      ? (["application/json", JSON.stringify(json)] as const)
      : (["application/x-www-form-urlencoded", new URLSearchParams(form).toString()] as const);
  const request: HttpRequest = {
    ...{ method, url, timeoutMs, maxBytes: maxAnswerBytes, isSafe: true },
    headers: { accept: "application/json", "content-type": type, "user-agent": "sluice", ...headers },
    body: Buffer.from(text),
  };
  let status = 0;
  let body: unknown;
  try {
    const response = await http.send(request, signal);
    ({ status } = response);
    body = parseJson(response.body);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    throw new KeyServiceRefusal(0, messageOf(error));
  }
  if (status < 200 || status > 299) {
    throw new KeyServiceRefusal(status, quotable(wordsOf(body) ?? `${method} ${url}: HTTP status ${status}`, secrets));
  }
  const parsed = answer.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new KeyServiceRefusal(status, `${method} ${url}: the answer is not that of a key service`);
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  } catch {
    return undefined;
  }
}

/** The words of a server that anyone may run. */
function quotable(words: string, secrets: readonly Secret[]): string {
  const safe = secrets.reduce((text, secret) => text.replaceAll(secret.reveal(), "<redacted>"), words);
  return safe.length > maxQuotedChars ? `${safe.slice(0, maxQuotedChars)}...` : safe;
}
