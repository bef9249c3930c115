import { createPrivateKey, createSign, type KeyObject } from "node:crypto";
import { z } from "zod";
import { parseJson } from "../../../core/json.ts";
import { type Answer, ask, jsonOf, quotedBody, statusText } from "./ask.ts";
import { type MakeServer, MetricFault, noValues, type ServerParts } from "./metric-server.ts";

const endpoint = "https://monitoring.googleapis.com/v3";
const scope = "https://www.googleapis.com/auth/monitoring.read";
const assertionSeconds = 3_600;
const timeoutMs = 15_000;
/** The limit for the key's modulus: a longer one takes seconds to sign with. */
const maxRsaBits = 8_192;

const Key = z.object({
  type: z.literal("service_account"),
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
  token_uri: z.url({ protocol: /^https?$/ }).default("https://oauth2.googleapis.com/token"),
});

interface Account {
  readonly email: string;
  readonly key: KeyObject;
  readonly keyId: string | undefined;
  readonly tokenUri: string;
}

const Value = z.object({ doubleValue: z.number().optional(), int64Value: z.string().optional() });
const QueryAnswer = z.object({
  timeSeriesData: z
    .array(z.object({ pointData: z.array(z.object({ values: z.array(Value).default([]) })).default([]) }))
    .default([]),
});

/**
 * Google's Cloud Monitoring: the query is in MQL. The first value of the first point counts. A function of AWS has no identity at Google, so
 * the Secret has to hold the key of a service account.
 */
export const stackdriver: MakeServer = ({ provider, secret, parts }) => {
  const project = secret?.get("project");
  if (secret !== undefined && project === undefined) {
    throw new MetricFault(`${provider.type} credentials does not contain a project id`);
  }
  const json = secret?.get("serviceAccountKey");
  if (project === undefined || json === undefined) {
    throw new MetricFault(
      "google: could not find default credentials: put a serviceAccountKey into the Secret of the provider",
    );
  }
  const account = accountOf(json);
  const url = `${endpoint}/projects/${encodeURIComponent(project)}/timeSeries:query`;
  const send = async (query: string): Promise<Answer> => {
    const authorization = `Bearer ${await accessToken(account, parts)}`;
    const headers = { authorization, "content-type": "application/json" };
    return ask({ method: "POST", url, headers, body: JSON.stringify({ query }), timeoutMs }, parts);
  };
  return {
    async query(query) {
      const answer = await send(query);
      if (answer.status !== 200) throw new MetricFault(`error requesting stackdriver: ${refusalOf(answer)}`);
      const parsed = QueryAnswer.safeParse(jsonOf(answer));
      if (!parsed.success) {
        throw new MetricFault("error requesting stackdriver: it is not the answer of a query", { cause: parsed.error });
      }
      const value = parsed.data.timeSeriesData[0]?.pointData[0]?.values[0];
      if (value === undefined) throw noValues(`invalid response: ${quotedBody(answer)}: `);
      // Flagger takes a whole number for 0.
      return value.doubleValue ?? Number(value.int64Value ?? 0);
    },
    /** An empty query is not valid, which the server says to those only who may ask. */
    async probe() {
      const answer = await send("");
      if (answer.status !== 200 && answer.status !== 400) {
        throw new MetricFault(`unexpected status code: ${refusalOf(answer)}`);
      }
    },
  };
};

const Refusal = z.object({ error: z.object({ status: z.string(), message: z.string() }) });

function refusalOf(answer: Answer): string {
  const { data } = Refusal.safeParse(jsonIn(answer.text));
  return data === undefined
    ? `${statusText(answer)}: ${quotedBody(answer)}`
    : `${data.error.status}: ${data.error.message}`;
}

/** Reads the JSON key of a service account. The fault quotes nothing of it. */
function accountOf(text: string): Account {
  const failed = (why: string): MetricFault => new MetricFault(`serviceAccountKey: ${why}`);
  const { data } = Key.safeParse(jsonIn(text));
  if (data === undefined) throw failed("it is not the JSON key of a service account");
  let key: KeyObject;
  try {
    key = createPrivateKey(data.private_key);
  } catch {
    // OpenSSL's words may say something of the key.
    throw failed("private_key is not a private key in PEM");
  }
  if (key.asymmetricKeyType !== "rsa" || (key.asymmetricKeyDetails?.modulusLength ?? 0) > maxRsaBits) {
    throw failed(`private_key is not an RSA key of at most ${maxRsaBits} bits`);
  }
  return { email: data.client_email, key, keyId: data.private_key_id, tokenUri: data.token_uri };
}

/** Undefined for text that is not JSON. */
function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

const Token = z.object({ access_token: z.string().min(1) });

/** A token of RFC 7523. */
async function accessToken({ email, key, keyId, tokenUri: aud }: Account, parts: ServerParts): Promise<string> {
  const iat = Math.floor(parts.clock.now() / 1_000);
  const claims = { iss: email, scope, aud, iat, exp: iat + assertionSeconds };
  const payload = [{ alg: "RS256", typ: "JWT", kid: keyId }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const assertion = `${payload}.${createSign("sha256").update(payload).sign(key, "base64url")}`;
  const body = new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const answer = await ask({ method: "POST", url: aud, headers, body: body.toString(), timeoutMs }, parts);
  const failed = (why: string): MetricFault =>
    new MetricFault(`error requesting stackdriver: the token service ${new URL(aud).host}: ${why}`);
  // Its answer may hold a token, so no part of it is shown.
  if (answer.status !== 200) throw failed(`status ${statusText(answer)}`);
  const token = Token.safeParse(jsonIn(answer.text)).data;
  if (token === undefined) throw failed("the answer has no access_token");
  return token.access_token;
}
