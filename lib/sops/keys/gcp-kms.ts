import { createPrivateKey, createSign } from "node:crypto";
import { z } from "zod";
import type { Clock } from "../../core/ports/clock.ts";
import type { Http } from "../../core/ports/http.ts";
import { Secret } from "../../core/secret.ts";
import type { KeySource } from "../key-source.ts";
import { SopsFault } from "../sops-fault.ts";
import { askKeyService, KeyServiceRefusal } from "./ask-key-service.ts";

/** Google's own, for every project. */
const service = "https://cloudkms.googleapis.com/v1";
const defaultTokenUri = "https://oauth2.googleapis.com/token";
const scope = "https://www.googleapis.com/auth/cloudkms";
const assertionSeconds = 3600;
const renewBeforeMs = 60_000;

const ServiceAccount = z.object({
  type: z.literal("service_account"),
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
  token_uri: z.url({ protocol: /^https?$/ }).default(defaultTokenUri),
});
const AuthorizedUser = z.object({
  type: z.literal("authorized_user"),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
  refresh_token: z.string().min(1),
  token_uri: z.url({ protocol: /^https?$/ }).default(defaultTokenUri),
});
const Credentials = z.discriminatedUnion("type", [ServiceAccount, AuthorizedUser]);
/** The credentials of an entry `sops.gcp-kms`, made by {@link readGcpCredentials}. */
export type GcpCredentials = z.output<typeof Credentials>;

const Token = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });
const Decrypted = z.object({ plaintext: z.base64() });
const Refusal = z.object({ error: z.object({ message: z.string(), status: z.string() }) });
const TokenRefusal = z.object({ error: z.string(), error_description: z.string().optional() });

/** As sops asks for it. */
const resourcePattern = /^projects\/[^/]+\/locations\/[^/]+\/keyRings\/[^/]+\/cryptoKeys\/[^/]+$/;
const maxResourceChars = 1_000;

/**
 * The JSON of Google's credentials: those of a service account, or of a user. Others need the machine they were made for, and are refused
 * by name. Throws a {@link SopsFault} that quotes nothing but the type.
 */
export function readGcpCredentials(text: string): GcpCredentials {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new SopsFault("the credentials are not JSON");
  }
  const { type } = z
    .object({ type: z.string().max(100).catch("") })
    .catch({ type: "" })
    .parse(json);
  if (type !== "service_account" && type !== "authorized_user") {
    throw new SopsFault(`unknown credential type: ${JSON.stringify(type)}: give service_account or authorized_user`);
  }
  const parsed = Credentials.safeParse(json);
  if (!parsed.success) {
    const fields = parsed.error.issues.map(({ path }) => path.join(".")).join(", ");
    throw new SopsFault(`credentials of type ${type} lack or misspell ${fields}`);
  }
  if (parsed.data.type === "service_account") privateKey(parsed.data.private_key);
  return parsed.data;
}

/** Opens recipients of kind `gcp_kms` by the REST API of Google's KMS. */
export function gcpKmsKeySource(http: Http, clock: Pick<Clock, "now">, credentials: GcpCredentials): KeySource {
  let kept: { readonly token: Secret; readonly until: number } | undefined;
  const current = async (signal: AbortSignal): Promise<Secret> => {
    if (kept !== undefined && clock.now() < kept.until) return kept.token;
    const { access_token, expires_in } = await askForToken(http, clock.now(), credentials, signal);
    kept = { token: new Secret(access_token), until: clock.now() + expires_in * 1000 - renewBeforeMs };
    return kept.token;
  };
  return {
    async open(recipient, signal) {
      if (recipient.kind !== "gcp_kms") return undefined;
      const { resourceId, enc } = recipient;
      if (resourceId.length > maxResourceChars || !resourcePattern.test(resourceId)) {
        const id = JSON.stringify(resourceId.slice(0, 200));
        throw new SopsFault(`cannot create GCP KMS service: no valid resource ID found in ${id}`);
      }
      try {
        const token = await current(signal);
        const { plaintext } = await askKeyService(
          http,
          {
            method: "POST",
            url: `${service}/${resourceId.split("/").map(encodeURIComponent).join("/")}:decrypt`,
            headers: { authorization: `Bearer ${token.reveal()}` },
            json: { ciphertext: enc },
            answer: Decrypted,
            wordsOf: asGrpc,
            secrets: [token],
          },
          signal,
        );
        return Buffer.from(plaintext, "base64");
      } catch (error) {
        if (!(error instanceof KeyServiceRefusal)) throw error;
        throw new SopsFault(`failed to decrypt sops data key with GCP KMS key: ${error.message}`);
      }
    },
  };
}

/** As Google's client for Go says it, whose words Flux quotes: `rpc error: code = PermissionDenied desc = …`. */
function asGrpc(body: unknown): string | undefined {
  const { error } = Refusal.safeParse(body).data ?? {};
  if (error === undefined) return undefined;
  const code = error.status.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return `rpc error: code = ${code} desc = ${error.message}`;
}

function askForToken(
  http: Http,
  now: number,
  credentials: GcpCredentials,
  signal: AbortSignal,
): Promise<z.output<typeof Token>> {
  const { token_uri: url } = credentials;
  const [form, secret] = tokenRequest(credentials, now);
  return askKeyService(
    http,
    {
      ...{ method: "POST", url, form, answer: Token, secrets: secret },
      wordsOf: (body) => {
        const { error, error_description: why } = TokenRefusal.safeParse(body).data ?? {};
        return error === undefined
          ? undefined
          : `oauth2: ${JSON.stringify(error)}${why === undefined ? "" : ` ${JSON.stringify(why)}`}`;
      },
    },
    signal,
  );
}

/** The form that asks for a token (RFC 7523 for a service account, RFC 6749 for a user), and the secrets in it. */
function tokenRequest(
  credentials: GcpCredentials,
  now: number,
): readonly [Readonly<Record<string, string>>, readonly Secret[]] {
  if (credentials.type === "authorized_user") {
    const { client_id, client_secret, refresh_token } = credentials;
    const form = { grant_type: "refresh_token", client_id, client_secret, refresh_token };
    return [form, [new Secret(client_secret), new Secret(refresh_token)]];
  }
  const { client_email: iss, private_key, private_key_id: kid, token_uri: aud } = credentials;
  const iat = Math.floor(now / 1000);
  const claims = { iss, scope, aud, iat, exp: iat + assertionSeconds };
  const signed = [{ alg: "RS256", typ: "JWT", kid }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString("base64url"),
  );
  const payload = signed.join(".");
  const signature = createSign("sha256").update(payload).sign(privateKey(private_key), "base64url");
  const assertion = `${payload}.${signature}`;
  return [{ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion }, [new Secret(assertion)]];
}

function privateKey(pem: string) {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "rsa") return key;
  } catch {
    // OpenSSL's words say nothing to the reader, and may say something of the key.
  }
  throw new SopsFault("private_key is not the PEM of an RSA key");
}
