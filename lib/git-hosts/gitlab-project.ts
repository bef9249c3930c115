import { z } from "zod";
import { messageOf } from "../core/failure.ts";
import { type GoValue, goJson } from "../core/go-json.ts";
import type { HttpResponse } from "../core/ports/http.ts";
import { safeMessage } from "../core/safe-text.ts";
import { askAgain, type Retries } from "./ask-again.ts";
import { askHost, hasTimedOut, jsonBody, shownBody } from "./ask-host.ts";
import { type HostParts, type HostSettings, HostSetupError } from "./host-settings.ts";
import { escapedSegment, repositoryAddress } from "./repository-address.ts";

/** A request about a project on GitLab. */
export interface GitLabRequest<Answer> {
  readonly method: "GET" | "POST" | "PUT";
  /** Below `projects/<id>/`. */
  readonly path: string;
  readonly body?: GoValue;
  readonly answer: z.ZodType<Answer>;
}

/** A project on GitLab. Its ID is the whole path, or a number. Proxies do not count, as in Flux. */
export interface GitLabProject {
  /** The name of the user whose token it is. Throws a {@link HostSetupError}. */
  readonly username: (signal: AbortSignal) => Promise<string>;
  /** Throws in the words of GitLab's client. */
  readonly ask: <Answer>(request: GitLabRequest<Answer>, signal: AbortSignal) => Promise<Answer>;
}

const User = z.object({ username: z.string() });

/** Reads the settings of a type that speaks to GitLab. Throws Flux's text where they are wrong. */
export function gitlabProject(settings: HostSettings, parts: HostParts): GitLabProject {
  const token = settings.token === "" ? settings.password : settings.token;
  if (token === "") throw new Error("gitlab token cannot be empty");
  const { origin, id } = repositoryAddress(settings.address);
  const api = `${origin}/api/v4/`;
  const retries = retriesAt(parts.now);

  const askAt = async <Answer>(
    url: string,
    { method, body, answer: schema }: Omit<GitLabRequest<Answer>, "path">,
    signal: AbortSignal,
  ): Promise<Answer> => {
    const headers = {
      accept: "application/json",
      "private-token": token,
      ...(method === "GET" ? {} : { "content-type": "application/json" }),
    };
    const request = { method, url, headers, tls: settings.tls, body: body === undefined ? undefined : goJson(body) };
    const { outcome } = await askAgain(() => askHost(request, parts.http, signal), retries, parts, signal);
    if ("fault" in outcome) throw outcome.fault;
    assertAnswered(outcome.answer, method, url);
    const isEmpty = outcome.answer.body.length === 0;
    const parsed = schema.safeParse(isEmpty ? null : jsonBody(outcome.answer));
    if (!parsed.success) throw new Error("the answer is not the one of GitLab's API", { cause: parsed.error });
    return parsed.data;
  };

  return {
    ask: ({ path, ...request }, signal) => askAt(`${api}projects/${gitlabSegment(id)}/${path}`, request, signal),
    async username(signal) {
      try {
        return (await askAt(`${api}user`, { method: "GET", answer: User }, signal)).username;
      } catch (error) {
        if (!hasTimedOut(signal)) signal.throwIfAborted();
        const why = `failed to get authenticated user info: ${messageOf(error)}`;
        throw new HostSetupError(why, { cause: error });
      }
    },
  };
}

/** A segment of a path as GitLab's client writes it. */
export function gitlabSegment(text: string): string {
  return escapedSegment(text).replaceAll(".", "%2E");
}

/** As GitLab's client: five more attempts, each after 0.8 s more than the one before. */
function retriesAt(now: () => number): Retries {
  return {
    maxAttempts: 6,
    // No connection was made, and the name of the host is known.
    isGoneSoon: ({ reason, message }) => reason === "unreachable" && !message.includes("no such host"),
    waitMs: (attempt, answer) => (answer?.status === 429 ? resetMs(answer, attempt, now()) : 800 * attempt),
  };
}

/** Until the limit of requests begins again. */
function resetMs({ headers }: HttpResponse, attempt: number, now: number): number {
  const reset = Number(headers["ratelimit-reset"]) * 1000 - now;
  return reset > 100 ? reset : 100 * 2 ** (attempt - 1);
}

function assertAnswered(answer: HttpResponse, method: string, url: string): void {
  const { status } = answer;
  if ([200, 201, 202, 204, 304].includes(status)) return;
  if (status === 404) throw new Error("404 Not Found");
  const why = faultOf(answer);
  throw new Error(`${method} ${url.replace(/\?.*$/s, "")}: ${status}${why === "" ? "" : ` ${why}`}`);
}

function faultOf(answer: HttpResponse): string {
  const text = shownBody(answer);
  if (text.trim() === "") return "";
  let json: unknown;
  try {
    json = jsonBody(answer);
  } catch {
    return `failed to parse unknown error format: ${text}`;
  }
  return safeMessage(inWords(json, 0));
}

/** Deeper than this GitLab nests no error. */
const maxDepth = 16;

function inWords(said: unknown, depth: number): string {
  if (typeof said === "string") return said;
  if (depth < maxDepth && Array.isArray(said)) {
    return `[${said.map((each: unknown) => inWords(each, depth + 1)).join(", ")}]`;
  }
  if (depth < maxDepth && typeof said === "object" && said !== null) {
    return Object.entries(said)
      .map(([key, value]: readonly [string, unknown]) => `{${key}: ${inWords(value, depth + 1)}}`)
      .toSorted()
      .join(", ");
  }
  return `failed to parse unexpected error type: ${goType(said)}`;
}

function goType(value: unknown): string {
  if (typeof value === "boolean") return "bool";
  return typeof value === "number" ? "float64" : "<nil>";
}
