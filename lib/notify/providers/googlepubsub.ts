import { createPrivateKey, createSign, type KeyObject } from "node:crypto";
import { z } from "zod";
import { goJson } from "../../core/go-json.ts";
import { isJsonObject } from "../../core/json.ts";
import type { HttpResponse } from "../../core/ports/http.ts";
import { eventJson } from "../event-json.ts";
import { inWords, type SendingParts, sendMessage, textOf } from "../post-json.ts";
import type { MakeProvider } from "../provider.ts";

/**
 * A message for a topic of Google Pub/Sub, by its REST interface, with the headers of the Secret as attributes. The token is the
 * JSON of a service account. As in Flux it takes no proxy.
 */
export const googlepubsub: MakeProvider = ({ address: project, channel: topic, token, headers }, parts) => {
  if (project === "") throw new Error("GCP project ID cannot be empty");
  if (topic === "") throw new Error("GCP Pub/Sub topic ID cannot be empty");
  const path = `projects/${encodeURIComponent(project)}/topics/${encodeURIComponent(topic)}`;
  const attributes = Object.keys(headers).length === 0 ? undefined : new Map(Object.entries(headers));
  return {
    async post(event, signal) {
      const authorization = `Bearer ${await accessToken(token, parts, signal)}`;
      const data = Buffer.from(eventJson(event)).toString("base64");
      const message = {
        url: `https://pubsub.googleapis.com/v1/${path}:publish`,
        headers: { authorization },
        body: goJson({ messages: [{ data, attributes }] }),
      };
      const words = `error publishing to GCP Pub/Sub topic projects/${project}/topics/${topic}`;
      await inWords(words, signal, async () => assertPublished(await sendMessage(message, parts, signal)));
    },
  };
};

const Credentials = z.object({
  type: z.literal("service_account"),
  client_email: z.string(),
  private_key: z.string(),
  private_key_id: z.string().optional(),
  token_uri: z.url({ protocol: /^https$/ }).default("https://oauth2.googleapis.com/token"),
});

const scope = "https://www.googleapis.com/auth/cloud-platform https://www.googleapis.com/auth/pubsub";
const assertionSeconds = 3600;

/** A token for the service account, by an assertion that it signs (RFC 7523). */
async function accessToken(json: string, parts: SendingParts, signal: AbortSignal): Promise<string> {
  const { client_email: iss, private_key, private_key_id: kid, token_uri } = credentialsOf(json);
  const iat = Math.floor(parts.now() / 1000);
  const claims = { iss, scope, aud: token_uri, iat, exp: iat + assertionSeconds };
  const signed = [{ alg: "RS256", typ: "JWT", ...(kid === undefined ? {} : { kid }) }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const signature = createSign("sha256").update(signed).sign(rsaKey(private_key), "base64url");
  const form = { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: `${signed}.${signature}` };
  const message = {
    url: token_uri,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(form).toString(),
  };
  return inWords("oauth2: cannot fetch token", signal, async () => {
    const answer = await sendMessage(message, parts, signal);
    const { access_token: token } = jsonOf(answer);
    if (answer.status !== 200) throw new Error(`${answer.status} Response: ${textOf(answer.body)}`);
    if (typeof token !== "string") throw new Error("server response missing access_token");
    return token;
  });
}

function credentialsOf(json: string): z.output<typeof Credentials> {
  if (json === "") {
    throw new Error(
      "the Secret has no key 'token' with the JSON credentials of a service account, and Sluice has no workload identity of Google Cloud",
    );
  }
  try {
    return Credentials.parse(JSON.parse(json));
  } catch {
    // Neither JSON.parse nor zod may quote the key.
    throw new Error("google: the token is not the JSON credentials of a service account");
  }
}

function rsaKey(pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "rsa") return key;
  } catch {
    // OpenSSL's words say nothing to the reader, and may say something of the key.
  }
  throw new Error("google: private_key is not the PEM of an RSA key");
}

function jsonOf({ body }: HttpResponse): { readonly [field: string]: unknown } {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString());
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Throws what Google's gRPC client says of the error in an answer. */
function assertPublished(answer: HttpResponse): void {
  if (answer.status >= 200 && answer.status < 300) return;
  const { error } = jsonOf(answer);
  const { status, message } = isJsonObject(error) ? error : {};
  const code = (typeof status === "string" ? status : "UNKNOWN")
    .toLowerCase()
    .replaceAll(/(?:^|_)([a-z])/g, (_found, letter: string) => letter.toUpperCase());
  throw new Error(`rpc error: code = ${code} desc = ${typeof message === "string" ? message : textOf(answer.body)}`);
}
