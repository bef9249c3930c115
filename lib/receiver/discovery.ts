import { z } from "zod";
import { type AlgorithmName, isAlgorithm } from "./json-web-token.ts";

/** Longer than any address that a client takes. */
const maxUrlChars = 4_096;

/** What the discovery document of an issuer says that Sluice needs; nothing else of it is kept. */
export interface Discovery {
  readonly issuer: string;
  readonly jwksUri: string;
  /** The algorithms that Sluice knows. */
  readonly algorithms: readonly AlgorithmName[];
}

const Document = z.object({
  issuer: z.string().max(maxUrlChars),
  jwks_uri: z.url({ protocol: /^https?$/ }).max(maxUrlChars),
  // In one step: a list of what is no text has one fault and not one for each entry.
  id_token_signing_alg_values_supported: z
    .custom<string[]>((list) => Array.isArray(list) && list.every((one) => typeof one === "string"))
    .default([]),
});

/** Undefined if the document has no issuer or names no keys. */
export function readDiscovery(document: unknown): Discovery | undefined {
  const { success, data } = Document.safeParse(document);
  if (!success) return undefined;
  const { issuer, jwks_uri: jwksUri, id_token_signing_alg_values_supported: supported } = data;
  return { issuer, jwksUri, algorithms: [...new Set(supported.filter(isAlgorithm))] };
}
