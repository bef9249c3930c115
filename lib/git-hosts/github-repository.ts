import { z } from "zod";
import { messageOf } from "../core/failure.ts";
import type { HttpResponse } from "../core/ports/http.ts";
import { safeMessage } from "../core/safe-text.ts";
import { Secret } from "../core/secret.ts";
import { type GitHubApp, githubAppLogins } from "../sources/git/github-app.ts";
import { askHost, hasTimedOut, isSuccess, jsonBody, orDeadline } from "./ask-host.ts";
import { type GithubApp, type HostParts, type HostSettings, HostSetupError } from "./host-settings.ts";
import { escapedSegment, repositoryAddress } from "./repository-address.ts";

/** A request about a repository on GitHub. */
export interface GitHubRequest<Answer> {
  readonly method: "GET" | "PATCH" | "POST";
  /** Below `repos/<owner>/<repo>/`. */
  readonly path: string;
  /** JSON: {@link githubJson}. */
  readonly body?: string;
  /** GitHub's JSON of version 3 by default. */
  readonly accept?: string;
  readonly answer: z.ZodType<Answer>;
}

/** A repository on GitHub, with a login. */
export interface GitHubSession {
  /** Who comments are from; empty unless it was asked for. */
  readonly login: string;
  /** Throws in the words of go-github. */
  readonly ask: <Answer>(request: GitHubRequest<Answer>) => Promise<Answer>;
}

/** A repository on GitHub or on a GitHub Enterprise Server. */
export interface GitHubRepository {
  /** Throws a {@link HostSetupError}. */
  connect(options: { readonly hasLogin: boolean }, signal: AbortSignal): Promise<GitHubSession>;
}

const mediaType = "application/vnd.github.v3+json";
const User = z.object({ login: z.string().nullish() }).nullable();

/** Reads the settings of a type that speaks to GitHub. Throws Flux's text where they are wrong. */
export function githubRepository(settings: HostSettings, parts: HostParts): GitHubRepository {
  const { address, password, proxy, tls } = settings;
  const token = settings.token === "" ? password : settings.token;
  const app = token === "" ? requiredApp(settings.githubApp) : undefined;
  const { origin, id } = repositoryAddress(address);
  const [owner = "", repo = "", ...more] = id.split("/");
  if (more.length > 0 || !id.includes("/")) throw new Error(`invalid repository id: '${id}'`);
  const api = apiAt(origin);
  const logins = parts.githubApps ?? githubAppLogins(parts.http, parts);

  /** Proxies count for the token of an App alone, and so does the trust where the API is GitHub's own. */
  const sessionOf = (login: string, bearer: string, signal: AbortSignal): GitHubSession => ({
    login,
    ask: ({ path, ...request }) =>
      ask({ ...request, url: `${api}repos/${escapedSegment(owner)}/${escapedSegment(repo)}/${path}` }, bearer, signal),
  });

  const ask = async <Answer>(
    { method, url, body, accept = mediaType, answer }: Omit<GitHubRequest<Answer>, "path"> & { readonly url: string },
    bearer: string,
    signal: AbortSignal,
  ): Promise<Answer> => {
    const headers = {
      accept,
      authorization: `Bearer ${bearer}`,
      "x-github-api-version": "2022-11-28",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const request = { method, url, headers, body: body === undefined ? undefined : `${body}\n` };
    // go-github leaves the request out of it.
    return orDeadline(signal, async () => {
      const trust = api === publicApi || tls === undefined ? {} : { tls };
      const response = await askHost({ ...request, ...trust }, parts.http, signal);
      assertAnswered(response, request, parts.now());
      return readAs(answer, response);
    });
  };

  return {
    async connect({ hasLogin }, signal) {
      try {
        if (app !== undefined) {
          const login = await orDeadline(signal, () => logins({ ...app, proxy, tls }, { hasSlug: hasLogin }, signal));
          const bearer = login.token.reveal();
          if (!hasLogin || (login.slug ?? "") !== "")
            return sessionOf(hasLogin ? `${login.slug}[bot]` : "", bearer, signal);
          return sessionOf(await userOf(bearer, signal), bearer, signal);
        }
        return sessionOf(hasLogin ? await userOf(token, signal) : "", token, signal);
      } catch (error) {
        if (!hasTimedOut(signal)) signal.throwIfAborted();
        throw new HostSetupError(messageOf(error), { cause: error });
      }
    },
  };

  async function userOf(bearer: string, signal: AbortSignal): Promise<string> {
    try {
      const user = await ask({ method: "GET", url: `${api}user`, answer: User }, bearer, signal);
      return user?.login ?? "";
    } catch (error) {
      throw new Error(`failed to get authenticated user info: ${messageOf(error)}`, { cause: error });
    }
  }
}

/** The App of the Secret as Flux takes it. Throws its text where something is missing. */
function requiredApp(app: GithubApp | undefined): GitHubApp {
  if (app === undefined) throw new Error("github token or github app details must be specified");
  const { appId, privateKey, installationId, installationOwner = "", baseUrl } = app;
  const why = "must be provided to use github app authentication";
  const [id, installation] = [wholeNumber(appId), wholeNumber(installationId ?? "")];
  if (id === "") throw new Error(`app ID ${why}`);
  if (installationOwner === "" && installation === "") throw new Error(`app installation owner or ID ${why}`);
  if (installationOwner !== "" && installation !== "") {
    throw new Error(`only one of app installation owner or ID ${why}`);
  }
  if (privateKey === "") throw new Error(`private key ${why}`);
  return {
    id,
    privateKey: new Secret(privateKey),
    installation: installation === "" ? { owner: installationOwner } : { id: installation },
    baseUrl,
  };
}

/** Digits without sign and leading zeros. Empty for zero, and for text that Go does not parse as a whole number. */
function wholeNumber(text: string): string {
  const [, digits = ""] = /^\+?0*([1-9]\d{0,18})$/.exec(text) ?? [];
  return digits;
}

const publicApi = "https://api.github.com/";

/** Where the API of this host is, with a slash at its end. */
function apiAt(origin: string): string {
  const host = origin.slice(origin.indexOf("://") + 3).toLowerCase();
  if (host === "github.com") return publicApi;
  return host.startsWith("api.") || host.includes(".api.") ? `${origin}/` : `${origin}/api/v3/`;
}

/** As Go writes it without the escapes for HTML. The fields of an object keep their order. */
export function githubJson(value: string | Readonly<Record<string, string>>): string {
  const json = JSON.stringify(value, (_key, each: unknown) => (typeof each === "string" ? each.toWellFormed() : each));
  return json.replaceAll("\u2028", String.raw`\u2028`).replaceAll("\u2029", String.raw`\u2029`);
}

function readAs<Answer>(schema: z.ZodType<Answer>, response: HttpResponse): Answer {
  // A client of Go's takes an empty body for the zero value.
  const isEmpty = response.body.length === 0;
  const parsed = schema.safeParse(isEmpty ? null : jsonBody(response));
  if (!parsed.success) throw new Error("the answer is not the one of GitHub's API", { cause: parsed.error });
  return parsed.data;
}

const Text = z
  .string()
  .nullish()
  .transform((text) => text ?? "");
const Fault = z.object({
  message: Text,
  errors: z
    .array(
      z.union([
        z.string().transform((message) => ({ resource: "", field: "", code: "", message })),
        z.object({ resource: Text, field: Text, code: Text, message: Text }),
      ]),
    )
    .nullish()
    .transform((errors) => errors ?? []),
  documentation_url: Text,
});
const noFault: z.infer<typeof Fault> = { message: "", errors: [], documentation_url: "" };

/** Throws go-github's error for an answer that is not a success. */
function assertAnswered(
  response: HttpResponse,
  { method, url }: { readonly method: string; readonly url: string },
  now: number,
): void {
  const { status, headers } = response;
  if (status === 202) throw new Error("job scheduled on GitHub side; try again later");
  if (isSuccess(response)) return;
  const { message, errors, documentation_url: page } = faultOf(response);
  const said = `${method} ${url}: ${status} ${safeMessage(message)}`;
  if (status === 403 && headers["x-ratelimit-remaining"] === "0") {
    throw new Error(`${said} ${resetText(Number(headers["x-ratelimit-reset"] ?? 0) * 1000 - now)}`);
  }
  if (status === 403 && /(?:#abuse-rate-limits|secondary-rate-limits)$/.test(page)) throw new Error(said);
  const each = errors.map(
    ({ resource, field, code, message: text }) => `{Resource:${resource} Field:${field} Code:${code} Message:${text}}`,
  );
  throw new Error(`${said} [${safeMessage(each.join(" "))}]`);
}

function faultOf(response: HttpResponse): z.infer<typeof Fault> {
  try {
    return Fault.parse(jsonBody(response));
  } catch {
    return noFault;
  }
}

function resetText(ms: number): string {
  const seconds = Math.floor(0.5 + Math.abs(ms) / 1000);
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  const time = minutes > 0 ? `${minutes}m${String(rest).padStart(2, "0")}s` : `${seconds}s`;
  return ms < 0 ? `[rate limit was reset ${time} ago]` : `[rate reset in ${time}]`;
}
