import { posix } from "node:path";

/** The characters that a header can hold. */
const headerText = /^[\u0021-\u007e]*$/;

/**
 * Where Go's router, which Flux's receiver has, sends a request whose path has `//`, `.` or `..`, or lacks the last slash of `/hook/`;
 * undefined for any other, and for one that no header can hold. Never leads to another host: it begins with one slash, and has no backslash.
 *
 * @param uri path and query, not decoded
 */
export function redirectOf(uri: string): string | undefined {
  const [path = "", ...query] = uri.split("?");
  const cleaned = clean(path);
  const target = cleaned === "/hook" ? "/hook/" : cleaned;
  if (target === path) return undefined;
  const asked = query.join("?");
  const location = `${encodeURI(target.toWellFormed()).replaceAll("#", "%23")}${asked === "" ? "" : `?${asked}`}`;
  return headerText.test(location) ? location : undefined;
}

function clean(path: string): string {
  const normal = posix.normalize(path);
  // These two keep their slash in Node, and not in Go.
  return /\/\.{1,2}$/.test(path) && normal !== "/" ? normal.replace(/\/$/, "") : normal;
}
