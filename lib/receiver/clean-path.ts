import { posix } from "node:path";

/**
 * Where Go's router, which Flux's receiver has, sends a request whose path has `//`, `.` or `..`, or lacks the last slash of `/hook/`;
 * undefined for any other. Never leads to another host: it begins with one slash, and has no backslash.
 *
 * @param uri path and query, not decoded
 */
export function redirectOf(uri: string): string | undefined {
  const [path = "", ...query] = uri.split("?");
  const cleaned = clean(path);
  const target = cleaned === "/hook" ? "/hook/" : cleaned;
  if (target === path) return undefined;
  const asked = query.join("?");
  return `${encodeURI(target).replaceAll("#", "%23")}${asked === "" ? "" : `?${asked}`}`;
}

function clean(path: string): string {
  const normal = posix.normalize(path);
  // These two keep their slash in Node, and not in Go.
  return /\/\.{1,2}$/.test(path) && normal !== "/" ? normal.replace(/\/$/, "") : normal;
}
