import { z } from "zod";
import { messageOf } from "../../lib/core/failure.ts";
import type { Http, HttpResponse } from "../../lib/core/ports/http.ts";
import { safeText } from "../../lib/core/safe-text.ts";
import { askHost, type HostRequest, isSuccess, jsonBody } from "../../lib/git-hosts/ask-host.ts";

/** One request to the API of a host. */
export interface HostQuestion<Answer> {
  readonly method: HostRequest["method"];
  /** Below the API's address. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly answer: z.ZodType<Answer>;
  /** What it does, for people: `create the repository acme/fleet`. */
  readonly doing: string;
  /** The right of the token that it needs, for people. */
  readonly needs: string;
}

/** How a host is asked. */
export interface HostApiOptions {
  /** For people: `GitHub`. */
  readonly name: string;
  /** Where its API is, with a slash at its end. */
  readonly api: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Hidden in every error. */
  readonly token: string;
  /** The variable that has it. */
  readonly tokenName: string;
  readonly ca?: string | undefined;
}

/** Asks the API of a host. Each method throws an Error with one line that says what was refused, why, and the mend. */
export interface HostApi {
  /** The answer; undefined where there is no such thing (404). */
  find<Answer>(question: HostQuestion<Answer>, signal: AbortSignal): Promise<Answer | undefined>;
  /** The answer of a request that has to succeed. */
  ask<Answer>(question: HostQuestion<Answer>, signal: AbortSignal): Promise<Answer>;
  /** All pages of a list. */
  list<Entry>(
    question: Omit<HostQuestion<unknown>, "answer" | "method"> & { readonly entry: z.ZodType<Entry> },
    signal: AbortSignal,
  ): Promise<readonly Entry[]>;
}

const pageSize = 100;
/** A host may page for ever. */
export const maxHostPages = 20;
const maxShownChars = 300;

export function hostApi({ name, api, headers, token, tokenName, ca }: HostApiOptions, http: Http): HostApi {
  const shown = (text: string): string => {
    const line = safeText(token === "" ? text : text.replaceAll(token, "*****")).replaceAll(/\s+/g, " ");
    return line.length > maxShownChars ? `${line.slice(0, maxShownChars)}…` : line;
  };

  const send = async (
    { method, path, body, doing }: Omit<HostQuestion<unknown>, "answer">,
    signal: AbortSignal,
  ): Promise<HttpResponse> => {
    const typed = body === undefined ? {} : { "content-type": "application/json" };
    const request: HostRequest = {
      ...{ method, url: `${api}${path}`, headers: { ...headers, ...typed } },
      body: body === undefined ? undefined : JSON.stringify(body),
      tls: ca === undefined ? undefined : { ca },
    };
    try {
      return await askHost(request, http, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(`${name} cannot be asked to ${doing}: ${shown(messageOf(error))}`, { cause: error });
    }
  };

  const refusal = (answer: HttpResponse, { doing, needs }: Pick<HostQuestion<unknown>, "doing" | "needs">): Error => {
    const { status, headers: sent } = answer;
    const why = shown(reasonOf(answer));
    const said = `${status}${why === "" ? "" : `: ${why}`}`;
    if (status === 401) {
      const mend = `it is wrong or has expired, set ${tokenName} to another one`;
      return new Error(`${name} does not take the token of ${tokenName} (${said}): ${mend}`);
    }
    if (status === 429 || (status === 403 && sent["x-ratelimit-remaining"] === "0")) {
      return new Error(`${name} takes no more requests with this token now (${said}): run the command again later`);
    }
    if (status === 403 || status === 404) {
      return new Error(`${name} does not let the token of ${tokenName} ${doing} (${said}): it needs ${needs}`);
    }
    if (status >= 500) return new Error(`${name} cannot ${doing} now (${said}): run the command again`);
    return new Error(`${name} refuses to ${doing} (${said})`);
  };

  const read = <Answer>(schema: z.ZodType<Answer>, answer: HttpResponse, doing: string): Answer => {
    const parsed = schema.safeParse(bodyOf(answer));
    if (parsed.success) return parsed.data;
    throw new Error(`${name} was asked to ${doing}, and its answer is not the one of ${name}'s API: check --hostname`, {
      cause: parsed.error,
    });
  };

  const find = async <Answer>(question: HostQuestion<Answer>, signal: AbortSignal): Promise<Answer | undefined> => {
    const answer = await send(question, signal);
    if (answer.status === 404) return undefined;
    if (!isSuccess(answer)) throw refusal(answer, question);
    return read(question.answer, answer, question.doing);
  };

  const ask = async <Answer>(question: HostQuestion<Answer>, signal: AbortSignal): Promise<Answer> => {
    const answer = await send(question, signal);
    if (!isSuccess(answer)) throw refusal(answer, question);
    return read(question.answer, answer, question.doing);
  };

  return {
    find,
    ask,
    async list({ path, entry, ...question }, signal) {
      const entries = [];
      for (let page = 1; page <= maxHostPages; page++) {
        const at = `${path}?per_page=${pageSize}&page=${page}`;
        const found = await ask({ ...question, method: "GET", path: at, answer: z.array(entry) }, signal);
        entries.push(...found);
        if (found.length < pageSize) return entries;
      }
      const most = maxHostPages * pageSize;
      throw new Error(`${name} was asked to ${question.doing}, and lists more than ${most} entries: remove some`);
    },
  };
}

/** The body as JSON; null where there is none, or it is none. */
function bodyOf(answer: HttpResponse): unknown {
  try {
    return answer.body.length === 0 ? null : jsonBody(answer);
  } catch {
    return null;
  }
}

const Text = z.union([z.string(), z.array(z.string()).transform((texts) => texts.join(", "))]);
/** GitHub's `message` with `errors`, GitLab's `message` (a text, or texts by field) or `error`. */
const Reason = z.object({
  message: z.union([Text, z.record(z.string(), Text)]).optional(),
  error: z.string().optional(),
  error_description: z.string().optional(),
  errors: z.array(z.union([z.string(), z.object({ message: z.string().optional() })])).optional(),
});

function reasonOf(answer: HttpResponse): string {
  const parsed = Reason.safeParse(bodyOf(answer));
  if (!parsed.success) return "";
  const { message = "", error, error_description: description, errors = [] } = parsed.data;
  const fields = Object.entries(typeof message === "string" ? {} : message).map(([field, text]) => `${field} ${text}`);
  const more = errors.map((each) => (typeof each === "string" ? each : (each.message ?? "")));
  const texts = [typeof message === "string" ? message : "", ...fields, error ?? "", description ?? "", ...more];
  return texts.filter((text) => text !== "").join("; ");
}
