import { formatDuration } from "../core/duration.ts";
import { messageOf } from "../core/failure.ts";
import { DialError } from "../core/ports/dial.ts";
import { HttpError } from "../core/ports/http.ts";
import type { ProviderParts } from "./provider.ts";

/** Parts that remember the last request of a delivery. */
export interface WatchedParts {
  readonly parts: ProviderParts;
  /** What became of the last request or connection, and the mend, to stand behind Go's `context deadline exceeded`; empty if nothing was sent. */
  readonly whyLate: (timeoutMs: number) => string;
}

interface Last {
  /** Asked only if the delivery took too long. */
  readonly end: () => string;
  readonly mend: string;
}

/** The same parts, which remember what became of the last request or connection: at its timeout Go's client forgets it. */
export function watched(parts: ProviderParts): WatchedParts {
  let count = 0;
  let last: Last | undefined;
  const watch = async <Answer>(host: () => string, send: () => Promise<Answer>, endOf: (answer: Answer) => Last) => {
    count += 1;
    last = {
      end: () => `${host()} did not answer`,
      mend: "correct the address, or raise spec.timeout of the Provider",
    };
    try {
      const answer = await send();
      last = endOf(answer);
      return answer;
    } catch (error) {
      if (error instanceof HttpError || error instanceof DialError) last = failedEnd(error);
      throw error;
    }
  };
  return {
    parts: {
      ...parts,
      http: {
        send: (request, signal) =>
          watch(
            () => hostOf(request.url),
            () => parts.http.send(request, signal),
            ({ url, status }) => answeredEnd(url, status),
          ),
      },
      dial: (target, signal) => {
        const host = `${target.host}:${target.port}`;
        return watch(
          () => host,
          () => parts.dial(target, signal),
          () => ({ end: () => `${host} was connected and did not finish`, mend: unfinishedMend }),
        );
      },
    },
    whyLate: (timeoutMs) => {
      if (last === undefined) return "";
      // A delivery may look something up first, and follow redirects: a request is not an attempt.
      const which = count === 1 ? "the only request" : `the last of ${count} requests`;
      return `; ${which} within ${formatDuration(timeoutMs)}: ${last.end()}; ${last.mend}`;
    },
  };
}

/** Why there is no answer, without the request: an address may be a secret. */
export function whyNoAnswer(error: DialError | HttpError): string {
  return messageOf(error).replace(/^[A-Z]+ [a-z]+:\/\/\S*: /, "");
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

const unfinishedMend = "look at the log of the receiver, or raise spec.timeout of the Provider";

function answeredEnd(url: string, status: number): Last {
  const mend = status < 400 ? unfinishedMend : "look at the log of the receiver";
  return { end: () => `${hostOf(url)} answered with status ${status}`, mend };
}

function failedEnd(error: DialError | HttpError): Last {
  const end = (): string => whyNoAnswer(error);
  const mend =
    error.reason === "unreachable"
      ? "correct the address of the Provider, or start the receiver there"
      : "correct the address of the Provider, or look at the receiver";
  return { end, mend };
}
