import { posix } from "node:path";

/** A path as Go's `filepath.Clean` makes it: without a slash behind its name. */
export function cleanPath(path: string): string {
  const clean = posix.normalize(path);
  return clean.length > 1 && clean.endsWith("/") ? clean.slice(0, -1) : clean;
}
