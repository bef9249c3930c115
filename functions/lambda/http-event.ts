import { z } from "zod";
import type { IncomingRequest } from "../../lib/receiver/delivery.ts";

/**
 * An event of a function URL or of an HTTP API, payload format 2.0:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
const HttpEvent = z.object({
  version: z.literal("2.0"),
  rawPath: z.string(),
  rawQueryString: z.string().default(""),
  /** Names in lower case; the values of one name are joined with a comma. */
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().default(""),
  isBase64Encoded: z.boolean().default(false),
});

export interface HttpResult {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Reads the event. Throws a `ZodError` for any other. */
export function requestOfEvent(event: unknown): IncomingRequest {
  const { rawPath, rawQueryString, headers, body, isBase64Encoded } = HttpEvent.parse(event);
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  return {
    uri: rawQueryString === "" ? rawPath : `${rawPath}?${rawQueryString}`,
    header: (name) => headers[name.toLowerCase()],
    body: (async function* () {
      yield bytes;
    })(),
  };
}

export async function resultOf(response: Response): Promise<HttpResult> {
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}
