import { createHash } from "node:crypto";
import { z } from "zod";
import { messageOf } from "../../core/failure.ts";
import { goJson } from "../../core/go-json.ts";
import { goUrlFault } from "../../core/go-url-fault.ts";
import type { HttpResponse } from "../../core/ports/http.ts";
import { askAgain, type Retries } from "../../git-hosts/ask-again.ts";
import { askHost, type HostRequest, inWords, jsonBody, statusText } from "../../git-hosts/ask-host.ts";
import { escapedSegment, unescaped } from "../../git-hosts/repository-address.ts";
import { nameInStatus, requiredCommitStatus, statusOfEvent } from "../git/commit-of-event.ts";
import type { MakeProvider, ProviderSettings } from "../provider.ts";

const states = {
  info: "SUCCESSFUL",
  error: "FAILED",
  unknown: "couldn't convert to bitbucket server state: bitbucket server state generated on info or error events only",
};
const Text = z.string().nullish();
const Status = z.object({ key: Text, state: Text, name: Text, description: Text }).nullable();
const listing = "could not get existing commit status: failed api call to check duplicate commit status";
const posting = "could not post build status: could not post build commit status";

/** Build statuses on Bitbucket Server and Data Center. If the present status of its key says the same, it is not sent again. */
export const bitbucketServer: MakeProvider = (settings, parts) => {
  const { address, tls } = settings;
  const commits = commitsUrl(address);
  const key = createHash("sha1").update(requiredCommitStatus(settings.commitStatus)).digest("hex");
  const login = {
    authorization: authorizationOf(settings),
    "x-atlassian-token": "no-check",
    "x-requested-with": "XMLHttpRequest",
  };
  const retries = retriesAt(parts.now);

  /** Throws in the words of go-retryablehttp. */
  const ask = async (request: HostRequest, signal: AbortSignal): Promise<HttpResponse> => {
    const { attempts, outcome, isGivenUp } = await askAgain(
      () => askHost(request, parts.http, signal),
      retries,
      parts,
      signal,
    );
    if ("answer" in outcome && !isGivenUp) return outcome.answer;
    const said = `${request.method} ${request.url} giving up after ${attempts} attempt(s)`;
    throw new Error("fault" in outcome ? `${said}: ${outcome.fault.message}` : said);
  };

  return {
    async post(event, signal) {
      const status = statusOfEvent(event, states, "could not parse revision: ");
      if (status === undefined) return;
      const { commit, state, description } = status;
      const name = `${nameInStatus(event)} [${description}]`;
      const url = `${commits}/${escapedSegment(commit)}/builds`;
      const answer = await inWords(listing, signal, () =>
        ask({ method: "GET", url: `${url}?key=${key}`, headers: login, tls }, signal),
      );
      if (answer.status > 399 && answer.status !== 404) throw new Error(`${listing}: ${codeAndText(answer)}`);
      const present = answer.status === 200 ? statusIn(answer) : null;
      if (
        present?.key === key &&
        present.state === state &&
        present.description === description &&
        present.name === name
      )
        return;
      const body = `${goJson({ description, key, name, state, url: address })}\n`;
      const headers = { ...login, "content-type": "application/json" };
      const posted = await inWords(posting, signal, () => ask({ method: "POST", url, headers, body, tls }, signal));
      if (posted.status > 299) throw new Error(`${posting}: ${codeAndText(posted)}`);
    },
  };
};

/** Where the commits of a clone URL are in the API. What stands before `/scm/` is the path of the server. Throws Flux's text. */
function commitsUrl(address: string): string {
  const refused = (why: string): Error => new Error(`could not parse git address: ${why}`);
  const fault = goUrlFault(address);
  if (fault !== undefined) throw refused(`parse ${JSON.stringify(address)}: ${fault}`);
  const [, scheme = "", authority = "", path = ""] =
    /^(?:([a-z][a-z\d+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)/i.exec(address) ?? [];
  if (!/^https?$/i.test(scheme)) {
    throw refused(`unsupported scheme type in address: ${scheme.toLowerCase()}. Must be http or https`);
  }
  const whole = unescaped(path).replace(/\.git$/, "");
  const at = whole.lastIndexOf("/scm/");
  if (at < 0) throw refused("supplied provider address is not http(s) git clone url");
  const id = whole.slice(at + "/scm/".length);
  const [project = "", repo = "", ...more] = id.split("/");
  if (more.length > 0 || !id.includes("/")) throw refused(`invalid repository id ${JSON.stringify(id)}`);
  const context = whole.slice(0, at).split("/").map(escapedSegment).join("/");
  const origin = `${scheme.toLowerCase()}://${authority.slice(authority.lastIndexOf("@") + 1)}`;
  return `${origin}${context}/rest/api/latest/projects/${escapedSegment(project)}/repos/${escapedSegment(repo)}/commits`;
}

function authorizationOf({ password, token, username }: ProviderSettings): string {
  if (token !== "") return `Bearer ${token}`;
  if (username === "" || password === "") {
    throw new Error("invalid credentials, expected to be one of username/password or API Token");
  }
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

function statusIn(answer: HttpResponse): z.infer<typeof Status> {
  const words =
    "could not get existing commit status: could not unmarshal json response body for duplicate commit status";
  try {
    return Status.parse(jsonBody(answer));
  } catch (error) {
    const why = error instanceof z.ZodError ? "the answer is not the one of Bitbucket's API" : messageOf(error);
    throw new Error(`${words}: ${why}`, { cause: error });
  }
}

/** `401 - Unauthorized`. */
function codeAndText(answer: HttpResponse): string {
  return statusText(answer).replace(" ", " - ");
}

/** Five attempts, after 2, 4, 8 and 16 seconds, or when the server says. */
function retriesAt(now: () => number): Retries {
  return {
    maxAttempts: 5,
    isGoneSoon: ({ reason }) => reason === "protocol" || reason === "timeout" || reason === "unreachable",
    waitMs: (attempt, answer) => askedWaitMs(answer, now()) ?? Math.min(1_000 * 2 ** attempt, 30_000),
  };
}

function askedWaitMs(answer: HttpResponse | undefined, now: number): number | undefined {
  const header = answer?.status === 429 || answer?.status === 503 ? answer.headers["retry-after"] : undefined;
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
