import type { ArchiveLimits } from "../archive/unpack.ts";
import { BucketFault } from "./object-store.ts";

/**
 * The path of each object in the artifact: its key, with the prefix, without empty parts. Throws a {@link BucketFault} that names the key
 * if no file can be called so, or if two objects would be in one place: Flux takes one of them by chance there.
 */
export function placeObjects(
  keys: Iterable<string>,
  { maxDepth, maxEntries, maxPathBytes }: Pick<ArchiveLimits, "maxDepth" | "maxEntries" | "maxPathBytes">,
): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  const taken = new Map<string, string>();
  const folders = new Set<string>();
  for (const key of keys) {
    const parts = key.split("/").filter((part) => part !== "");
    const fault = partsFault(parts, key);
    if (fault !== undefined) throw faultOf(`object '${key}' ${fault}`);
    const path = parts.join("/");
    if (parts.length > maxDepth) throw faultOf(`object '${key}' is more than ${maxDepth} folders deep`);
    if (Buffer.byteLength(path) > maxPathBytes)
      throw faultOf(`object '${key}' has a path of more than ${maxPathBytes} bytes`);
    const other = taken.get(path);
    if (other !== undefined) throw faultOf(`objects '${other}' and '${key}' are the same file`);
    taken.set(path, key);
    paths.set(key, path);
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const folder = path.slice(0, end);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
    if (folders.size + paths.size > maxEntries)
      throw faultOf(`the objects and their folders are more than ${maxEntries}`);
  }
  for (const [path, key] of taken) {
    if (folders.has(path)) throw faultOf(`object '${key}' has the name of a folder of other objects`);
  }
  return paths;
}

/** What readers of artifacts refuse in a path, and what no URL can name. */
function partsFault(parts: readonly string[], key: string): string | undefined {
  if (parts.length === 0) return "has no name";
  if (parts.some((part) => part === "." || part === "..")) return "has a part '.' or '..', which no URL can name";
  if (parts.some((part) => part.includes("\\") || part.includes("\0"))) return "has a backslash or a null character";
  if (key.includes("../")) return "has a part that ends with '..'";
  return undefined;
}

function faultOf(what: string): BucketFault {
  return new BucketFault("limit", `${what}: rename it, or leave it out with spec.ignore`);
}
