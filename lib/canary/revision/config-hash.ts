import { createHash } from "node:crypto";
import { goJson } from "../../core/go-json.ts";

const hashLength = 16;

/**
 * Flagger's checksum of a tracked ConfigMap or Secret, the value in `status.trackedConfigs`: 16 hex digits of the SHA-256 of `data` as Go
 * writes it. That of a Secret is in base64, as the API server answers it. Missing data and empty data are the same, since the API server
 * omits both. Pure.
 */
export function configHash(data: Readonly<Record<string, string>>): string {
  const entries = Object.entries(data);
  const json = entries.length === 0 ? "null" : goJson(new Map(entries));
  return createHash("sha256").update(json).digest("hex").slice(0, hashLength);
}
