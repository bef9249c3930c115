import { Sha256 } from "@aws-crypto/sha256-js";
import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { HttpRequest } from "@smithy/protocol-http";
import { SignatureV4 } from "@smithy/signature-v4";
import { domainOfRegion } from "../core/partitions.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { AwsConnection } from "./aws-connection.ts";
import { type AwsAction, AwsFault } from "./aws-fault.ts";
import { callAws } from "./call-aws.ts";

/** A POST to a service of AWS in the region of its action. */
export interface PostToAws {
  readonly action: AwsAction;
  /** As its host and its signatures name it: `sns`, `events`. */
  readonly service: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Answers the text of an answer with a good status. Throws an {@link AwsFault} for any other answer, and if there is none. */
export type SignedPost = (request: PostToAws, signal: AbortSignal) => Promise<string>;

/**
 * Requests to services of which one action is used: an SDK client for each would be as large as the function. A temporary failure is tried
 * again, so a request may have been accepted twice.
 */
export function signedPost(
  clock: Pick<Clock, "now" | "sleep">,
  { credentials = defaultProvider(), endpoint }: Pick<AwsConnection, "credentials" | "endpoint"> = {},
): SignedPost {
  return async ({ action, service, headers: given, body }, signal) => {
    const { region } = action;
    const url = new URL(endpoint ?? `https://${service}.${region}.${domainOfRegion(region)}`);
    const signer = new SignatureV4({ credentials, region, service, sha256: Sha256 });
    const send = async ({ abortSignal }: { readonly abortSignal: AbortSignal }): Promise<string> => {
      const request = new HttpRequest({
        method: "POST",
        protocol: url.protocol,
        hostname: url.hostname,
        path: "/",
        headers: { ...given, host: url.host },
        body,
      });
      const { headers } = await signer.sign(request, { signingDate: new Date(clock.now()) });
      const answer = await fetch(url, { method: "POST", headers, body, signal: abortSignal, redirect: "manual" });
      const text = await answer.text();
      if (answer.ok) return text;
      throw Object.assign(serviceError(text, answer.status), {
        $metadata: { httpStatusCode: answer.status },
        $response: { headers: Object.fromEntries(answer.headers) },
      });
    };
    for (let attempt = 1; ; attempt++) {
      try {
        return await callAws(action, send, signal, limitMs);
      } catch (error) {
        const mayWorkLater = error instanceof AwsFault && transient.includes(error.reason);
        if (!mayWorkLater || attempt === tries) throw error;
        await clock.sleep(pauseMs * attempt, signal);
      }
    }
  };
}

/** Of one try. */
const limitMs = 5_000;
const tries = 4;
const pauseMs = 1_000;
const transient = ["throttled", "timeout", "unavailable", "unreachable"];

/** An error as the query protocol (XML) or the JSON protocol writes it; its name is the code. */
function serviceError(text: string, status: number): Error {
  const ofXml = /<Message>([^<]*)<\/Message>/.exec(text)?.[1];
  const ofJson = /"[Mm]essage"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
  const error = new Error(ofXml ?? ofJson ?? `HTTP status ${status}`);
  error.name = /<Code>([^<]*)<\/Code>/.exec(text)?.[1] ?? /"__type"\s*:\s*"(?:[^"#]*#)?([^"]*)"/.exec(text)?.[1] ?? "";
  return error;
}
