import { isJsonObject } from "./json.ts";
import type { LiveObject } from "./manifest.ts";

/** The texts of a Secret of the cluster, by key. Values that are not text are left out. Pure. */
export function secretTexts(secret: LiveObject): ReadonlyMap<string, string> {
  const data: unknown = secret["data"];
  const entries = isJsonObject(data) ? Object.entries(data) : [];
  return new Map(
    entries.flatMap(([key, value]) =>
      typeof value === "string" ? [[key, Buffer.from(value, "base64").toString()] as const] : [],
    ),
  );
}
