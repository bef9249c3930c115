import { constants, createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { closeServer } from "../../doubles/close-server.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

const hashes: Readonly<Record<string, string>> = { "256": "sha256", "384": "sha384", "512": "sha512" };

/** Signs claims as a JWT. `HS256` takes the secret from `secret`; `none` signs nothing. */
export function signedToken(
  key: KeyObject,
  header: { readonly alg: string; readonly kid?: string; readonly crit?: readonly string[] },
  claims: object,
  secret = "",
): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
  const signed = `${encode({ typ: "JWT", ...header })}.${encode(claims)}`;
  return `${signed}.${signature(header.alg, signed, key, secret).toString("base64url")}`;
}

function signature(alg: string, signed: string, key: KeyObject, secret: string): Buffer {
  const hash = hashes[alg.slice(2)];
  const padding = {
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  };
  switch (alg.slice(0, 2)) {
    case "no":
      return Buffer.alloc(0);
    case "HS":
      return createHmac(hash ?? "sha256", secret)
        .update(signed)
        .digest();
    case "PS":
      return sign(hash, Buffer.from(signed), { key, ...padding });
    case "ES":
      return sign(hash, Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
    default:
      return sign(hash, Buffer.from(signed), key);
  }
}

export const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });

export interface Issuer extends AsyncDisposable {
  readonly url: string;
  /** Paths that were asked for, in their order. */
  readonly asked: string[];
  keys: readonly { readonly kid: string; readonly key: KeyObject }[];
  /** What the discovery document has beside issuer and jwks_uri, or instead of them. */
  discovery: object;
  /** Answers instead of the issuer, where it returns true. */
  answer: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** An OpenID provider on loopback. */
export async function startIssuer(): Promise<Issuer> {
  const server = createServer((request, response) => {
    issuer.asked.push(request.url ?? "");
    if (issuer.answer(request, response)) return;
    response.setHeader("content-type", "application/json");
    switch (request.url ?? "") {
      case "/.well-known/openid-configuration":
        response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/jwks`, ...issuer.discovery }));
        break;
      case "/jwks":
        response.end(
          JSON.stringify({ keys: issuer.keys.map(({ kid, key }) => ({ ...key.export({ format: "jwk" }), kid })) }),
        );
        break;
      default:
        response.writeHead(404).end();
    }
  });
  const port = await portOnLoopback(server);
  const issuer: Issuer = {
    url: `http://127.0.0.1:${port}`,
    asked: [],
    keys: [{ kid: "one", key: rsa.publicKey }],
    discovery: {},
    answer: () => false,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
  return issuer;
}
