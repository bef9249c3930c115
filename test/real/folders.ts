import { join } from "node:path";
import type { PartName } from "./part.ts";

export const here = import.meta.dirname;

/** In the checkout, so that two checkouts share nothing, and ignored by git; SLUICE_REAL_CACHE names another folder. */
export function cacheFolder(): string {
  const named = process.env["SLUICE_REAL_CACHE"];
  return named === undefined || named === "" ? join(here, "../../.cache/real") : named;
}

/** A part's data, logs and pid files while it is up. */
export function partFolder(part: PartName): string {
  return join(cacheFolder(), "run", part);
}
