import { request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import { deadlineMs } from "../deadline.ts";

/** Long, since a part that is busy is not down: where none listens, the answer comes at once. A wait has room for some that are lost. */
const timeoutMs = deadlineMs / 4;

export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Trusted instead of the machine's own; PEM. */
  readonly ca?: string;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** One request to a part; undefined if no server listens, or none answers in time. */
export async function ask(
  url: string,
  { method = "GET", headers = {}, ca, body }: Question = {},
): Promise<Answer | undefined> {
  const request = url.startsWith("https:") ? tlsRequest : plainRequest;
  return new Promise((resolve) => {
    const options = { method, headers, agent: false, timeout: timeoutMs, ...(ca === undefined ? {} : { ca }) };
    const sent = request(url, options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        text += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", () => resolve(undefined));
    });
    sent.on("timeout", () => sent.destroy());
    sent.on("error", () => resolve(undefined));
    sent.end(body);
  });
}
