import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../lib/core/json.ts";

/** The version of this package, for example `0.1.0`. */
export function ownVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(import.meta.dirname, "../package.json"), "utf8"));
  return isJsonObject(manifest) && typeof manifest["version"] === "string" ? manifest["version"] : "0.0.0";
}
