import { z } from "zod";
import { type Cel, CelFault, type CelRules, JsonText } from "../cel/cel.ts";
import type { Clock } from "../core/ports/clock.ts";
import { bearerToken, claimsOf, type JsonWebToken, parseToken } from "./json-web-token.ts";
import type { KeySets } from "./key-sets.ts";
import { RequestRefused } from "./request-refused.ts";

/** Clients of other issuers have the same leeway. As in Flux, there is none for the expiry. */
const notBeforeLeewaySeconds = 300;

/** A provider of a Receiver of type `generic-oidc`, as its spec has it. */
export interface OidcProvider extends Partial<CelRules> {
  readonly issuerURL: string;
  readonly audience: string;
  readonly validations: CelRules["validations"];
}

export interface OidcDeps {
  readonly cel: Pick<Cel, "compileRules">;
  readonly clock: Clock;
  readonly keySets: KeySets;
}

const Issued = z.object({ iss: z.string().optional() });

/** Seconds since 1970, also as text. A time beyond int64 counts as long ago, as in Go's conversion. */
const Time = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/)
      .transform(Number),
  ])
  .transform((seconds) => (Math.abs(seconds) < 2 ** 63 ? seconds : 0));

/** As go-oidc reads them: also what says nothing here has to have its type. */
const Claims = z.object({
  iss: z.string(),
  aud: z
    .union([z.string(), z.array(z.string().nullable())])
    .nullish()
    .transform((aud) => (typeof aud === "string" ? [aud] : (aud ?? []))),
  // Without one it has expired long ago.
  exp: Time.default(0),
  nbf: Time.nullish().transform((seconds) => seconds ?? undefined),
  iat: Time.optional(),
  sub: z.string().nullish(),
  nonce: z.string().nullish(),
  at_hash: z.string().nullish(),
  _claim_names: z.record(z.string(), z.string().nullable()).nullish(),
});

/**
 * Checks the token of a delivery (reference 7): issued by one of the providers, signed by its key, for its audience, in its time,
 * and passing its validations.
 *
 * @returns the claims, which filters read as `claims`
 * @throws RequestRefused that says what is wrong, or the reason `signal` was aborted with
 */
export async function verifyOidc(
  authorization: string | undefined,
  providers: readonly OidcProvider[],
  deps: OidcDeps,
  signal: AbortSignal,
): Promise<JsonText> {
  const token = parseToken(bearerToken(authorization));
  const { iss = "" } = claimsOf(token, Issued);
  if (iss === "") throw new RequestRefused("failed to parse bearer token: token is missing the 'iss' claim");
  const provider = providers.find(({ issuerURL }) => issuerURL === iss);
  if (provider === undefined) throw new RequestRefused("no oidcProvider configured for the token's issuer");
  await verifySignature(token, provider, deps.keySets, signal);
  verifyClaims(token, provider, deps.clock);
  const claims = new JsonText(token.payload);
  await validate(claims, provider, deps.cel, signal);
  return claims;
}

async function verifySignature(
  token: JsonWebToken,
  { issuerURL }: OidcProvider,
  keySets: KeySets,
  signal: AbortSignal,
): Promise<void> {
  const { jwksUri, algorithms } = await discover(issuerURL, keySets, signal);
  if (!algorithms.includes(token.alg)) {
    throw new RequestRefused(`failed to verify OIDC token: its algorithm is none of ${algorithms.join(", ")}`);
  }
  const isSigned = await keySets.hasSigned(jwksUri, token, signal).catch((error: unknown) => {
    if (!(error instanceof RequestRefused)) throw error;
    throw new RequestRefused(`failed to verify OIDC token: fetching keys: ${error.message}`, { cause: error });
  });
  if (!isSigned) throw new RequestRefused("failed to verify OIDC token: failed to verify id token signature");
}

async function discover(
  issuerURL: string,
  keySets: KeySets,
  signal: AbortSignal,
): Promise<{ readonly jwksUri: string; readonly algorithms: readonly string[] }> {
  const failed = (why: string, cause?: unknown): RequestRefused =>
    new RequestRefused(`failed to initialize OIDC provider for issuer ${JSON.stringify(issuerURL)}: ${why}`, { cause });
  const url = `${issuerURL.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const document = await keySets.document(url, signal).catch((error: unknown) => {
    if (!(error instanceof RequestRefused)) throw error;
    throw failed(error.message, error);
  });
  if (document === undefined) throw failed("its discovery document has no issuer or jwks_uri");
  const { issuer, jwksUri, algorithms } = document;
  if (issuer !== issuerURL) throw failed("its discovery document names another issuer");
  return { jwksUri, algorithms: algorithms.length === 0 ? ["RS256"] : algorithms };
}

function verifyClaims(token: JsonWebToken, { issuerURL, audience }: OidcProvider, clock: Clock): void {
  const failed = (why: string): RequestRefused => new RequestRefused(`failed to verify OIDC token: ${why}`);
  const { iss, aud, exp, nbf } = claimsOf(token, Claims);
  const nowSeconds = clock.now() / 1000;
  if (iss !== issuerURL) throw failed("issued by a different provider");
  if (!aud.includes(audience)) throw failed(`expected audience ${JSON.stringify(audience)}`);
  if (exp < nowSeconds) throw failed(`token is expired (Token Expiry: ${timeOf(exp)})`);
  if (nbf !== undefined && nbf > nowSeconds + notBeforeLeewaySeconds) {
    throw failed(`current time before the nbf (not before) time: ${timeOf(nbf)}`);
  }
}

function timeOf(seconds: number): string {
  const time = new Date(seconds * 1000);
  return Number.isNaN(time.getTime()) ? String(seconds) : time.toISOString();
}

async function validate(
  claims: JsonText,
  { issuerURL, variables = [], validations }: OidcProvider,
  cel: OidcDeps["cel"],
  signal: AbortSignal,
): Promise<void> {
  const issuer = JSON.stringify(issuerURL);
  const refused = (prefix: string) => (error: unknown) => {
    if (!(error instanceof CelFault)) throw error;
    throw new RequestRefused(`${prefix}${error.message}`, { cause: error });
  };
  const rules = await cel
    .compileRules({ variables, validations }, signal)
    .catch(refused(`invalid oidcProvider configuration for issuer ${issuer}: `));
  const failures = await rules.failures(claims, signal).catch(refused(""));
  if (failures.length > 0) throw new RequestRefused(`token validation failed: ${failures.join("; ")}`);
}
