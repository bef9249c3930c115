import { isJsonObject } from "../core/json.ts";

/** When a JSON web token ends by its own words; undefined for a token of another kind or without an end. */
export function expiryOfJwt(token: string): Date | undefined {
  const [, payload, signature] = token.split(".");
  if (payload === undefined || signature === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    const seconds = isJsonObject(claims) ? claims["exp"] : undefined;
    return typeof seconds === "number" ? new Date(seconds * 1000) : undefined;
  } catch {
    // Three parts with dots between them, but no web token: the API server will judge it.
    return undefined;
  }
}
