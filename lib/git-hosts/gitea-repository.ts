import { z } from "zod";
import { messageOf } from "../core/failure.ts";
import { type GoValue, goJson } from "../core/go-json.ts";
import type { HttpResponse } from "../core/ports/http.ts";
import { safeMessage } from "../core/safe-text.ts";
import { askHost, hasTimedOut, isSuccess, jsonBody, shownBody, statusText } from "./ask-host.ts";
import { type HostParts, type HostSettings, HostSetupError } from "./host-settings.ts";
import { escapedSegment, repositoryAddress, unescaped } from "./repository-address.ts";

/** A request about a repository on Gitea. */
export interface GiteaRequest<Answer> {
  readonly method: "GET" | "PATCH" | "POST";
  /** Below `repos/<owner>/<repo>/`. */
  readonly path: string;
  readonly body?: GoValue;
  /** Whether a request without a body says JSON too, as some of Gitea's client do. */
  readonly saysJson?: boolean;
  readonly answer: z.ZodType<Answer>;
}

/** A repository on Gitea, or on Forgejo. */
export interface GiteaRepository {
  /** Asks for the version of the server, which has to be 1.11.0 or later. Throws a {@link HostSetupError}. */
  readonly connect: (signal: AbortSignal) => Promise<void>;
  /** The name of the user whose token it is. Throws a {@link HostSetupError}. */
  readonly username: (signal: AbortSignal) => Promise<string>;
  /** Throws in the words of Gitea's client. */
  readonly ask: <Answer>(request: GiteaRequest<Answer>, signal: AbortSignal) => Promise<Answer>;
}

const Version = z.object({ version: z.string().default("") });
const User = z.object({ login: z.string().default("") });

/** Reads the settings of a type that speaks to Gitea. Throws Flux's text where they are wrong. */
export function giteaRepository(settings: HostSettings, parts: HostParts): GiteaRepository {
  const token = settings.token === "" ? settings.password : settings.token;
  if (token === "") throw new Error("gitea token cannot be empty");
  const { origin, id } = repositoryAddress(settings.address);
  const [owner = "", repo = "", ...more] = id.split("/");
  if (more.length > 0 || !id.includes("/")) throw new Error(`invalid repository id ${JSON.stringify(id)}`);
  const { proxy, tls } = settings;

  const askAt = async <Answer>(
    path: string,
    { method, body, saysJson = body !== undefined, answer: schema }: Omit<GiteaRequest<Answer>, "path">,
    signal: AbortSignal,
  ): Promise<Answer> => {
    const url = `${origin}/api/v1/${path}`;
    const headers = {
      authorization: `token ${token}`,
      ...(saysJson ? { "content-type": "application/json" } : {}),
    };
    const text = body === undefined ? undefined : goJson(body);
    const answer = await askHost({ method, url, headers, body: text, proxy, tls }, parts.http, signal);
    if (!isSuccess(answer)) throw new Error(faultOf(answer, method, url));
    const parsed = schema.safeParse(jsonBody(answer));
    if (!parsed.success) throw new Error("the answer is not the one of Gitea's API", { cause: parsed.error });
    return parsed.data;
  };

  const setUp = async <Answer>(
    words: string,
    path: string,
    schema: z.ZodType<Answer>,
    signal: AbortSignal,
  ): Promise<Answer> => {
    try {
      return await askAt(path, { method: "GET", answer: schema }, signal);
    } catch (error) {
      if (!hasTimedOut(signal)) signal.throwIfAborted();
      throw new HostSetupError(`${words}: ${messageOf(error)}`, { cause: error });
    }
  };

  return {
    ask: ({ path, ...request }, signal) =>
      askAt(`repos/${escapedSegment(owner)}/${escapedSegment(repo)}/${path}`, request, signal),
    async connect(signal) {
      const words = "failed creating Gitea client";
      const { version } = await setUp(words, "version", Version, signal);
      const why = versionFault(version, origin);
      if (why !== undefined) throw new HostSetupError(`${words}: ${why}`);
    },
    async username(signal) {
      return (await setUp("failed to get authenticated user info", "user", User, signal)).login;
    },
  };
}

const oldest = [1, 11, 0] as const;

/** Why Gitea's client does not speak to a server of this version; undefined if it does. */
function versionFault(version: string, origin: string): string | undefined {
  const [, numbers, extra = ""] = /^v?(\d+(?:\.\d+)*)(-?[\dA-Za-z][\w.~-]*)?(?:\+[\w.~-]+)?$/.exec(version) ?? [];
  if (numbers === undefined) {
    return version.trim() === "" ? `malformed version: ${version}` : `unknown version: ${safeMessage(version)}`;
  }
  const parts = numbers.split(".").map(Number);
  const difference = oldest.map((least, index) => (parts[index] ?? 0) - least).find((each) => each !== 0) ?? 0;
  const isOlder = difference < 0 || (difference === 0 && extra !== "");
  return isOlder ? `gitea server at ${origin} is older than 1.11.0` : undefined;
}

const Fault = z.record(z.string(), z.unknown());

function faultOf(answer: HttpResponse, method: string, url: string): string {
  let said: z.infer<typeof Fault>;
  try {
    said = Fault.parse(jsonBody(answer));
  } catch {
    // It calls the body of the answer that of the request.
    const asked = `'${unescaped(new URL(url).pathname)}' with '${method}' method and '${shownBody(answer)}' body`;
    return `unknown API error: ${answer.status}\nRequest: ${asked}`;
  }
  const { message } = said;
  if (message === undefined) return `${statusText(answer)}: ${shownBody(answer)}`;
  return safeMessage(typeof message === "string" ? message : JSON.stringify(message));
}
