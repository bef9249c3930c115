import { z } from "zod";
import { defaultAudience } from "../api/receiver.ts";
import type { Cel } from "../cel/cel.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Http } from "../core/ports/http.ts";
import { type Authentications, type Challenge, listedIn, type Verdict } from "./authenticate.ts";
import { checkCdEvent } from "./cdevents.ts";
import { requestOf } from "./delivery.ts";
import { gcrEvent, verifyGoogleToken } from "./google-token.ts";
import { keySets } from "./key-sets.ts";
import { verifyOidc } from "./oidc.ts";
import { RequestRefused } from "./request-refused.ts";

const Providers = z.array(
  z.object({
    issuerURL: z.string(),
    audience: z
      .string()
      .default("")
      .transform((audience) => audience || defaultAudience),
    variables: z.array(z.object({ name: z.string(), expression: z.string() })).default([]),
    validations: z.array(z.object({ expression: z.string(), message: z.string() })),
  }),
);

export interface IssuedTokenDeps {
  readonly cel: Pick<Cel, "withBudget">;
  readonly clock: Clock;
  /** Guarded by the network policy: tenants name issuers. */
  readonly http: Http;
  /** Of Google's keys. Default: where Google has them. */
  readonly googleKeysUrl?: string;
}

/** The types whose senders prove themselves by a token of an issuer, and CDEvents, with what they read of issuers. */
export function issuedTokens({ cel, clock, http, googleKeysUrl: keysUrl }: IssuedTokenDeps): Authentications {
  const keys = keySets({ http, clock });
  const google = { clock, keySets: keys, ...(keysUrl === undefined ? {} : { keysUrl }) };
  return {
    "generic-oidc": refusing(async ({ delivery, entry, tenant }, signal) => {
      const providers = Providers.parse(entry.oidcProviders ?? []);
      const authorization = delivery.header("authorization");
      const deps = { cel: cel.withBudget(tenant, "delivery"), clock, keySets: keys };
      const claims = await verifyOidc(authorization, providers, deps, signal);
      return { kind: "accepted", claims };
    }),
    gcr: refusing(async ({ delivery, secret }, signal) => {
      const expected = { email: secret.get("email")?.reveal(), audience: secret.get("audience")?.reveal() };
      await verifyGoogleToken(delivery.header("authorization"), expected, google, signal);
      const body = Buffer.from(JSON.stringify(gcrEvent(delivery.body)));
      const req = requestOf({ uri: delivery.uri, header: (name) => delivery.header(name), body });
      return "fault" in req ? { kind: "refused", why: `the event ${req.fault}` } : { kind: "accepted", req };
    }),
    cdevents: refusing(async (challenge) => {
      checkCdEvent(challenge.delivery.body);
      const why = listedIn("ce-type")(challenge);
      return why === undefined ? { kind: "accepted" } : { kind: "refused", why };
    }),
  };
}

/** A refusal is an answer and not a fault of ours. */
function refusing(check: (challenge: Challenge, signal: AbortSignal) => Promise<Verdict>) {
  return async (challenge: Challenge, signal: AbortSignal): Promise<Verdict> => {
    try {
      return await check(challenge, signal);
    } catch (error) {
      if (error instanceof RequestRefused) return { kind: "refused", why: error.message };
      throw error;
    }
  };
}
