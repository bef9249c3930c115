import { union } from "./field-set.ts";
import { compareText, type Manager, type Managers, managerId } from "./managers.ts";

const maxUpdaters = 10;
const bucketName = "ancient-changes";

/** Merges the oldest Update entries, those of one API version with each other, until at most ten remain. */
export function capUpdaters(managers: Managers): Managers {
  const updaters = [...managers].filter(([, { operation }]) => operation === "Update");
  if (updaters.length <= maxUpdaters) return managers;
  const oldestFirst = updaters.sort(
    ([idA, a], [idB, b]) => compareText(a.time ?? "", b.time ?? "") || compareText(idA, idB),
  );
  const result = new Map(managers);
  const firstOfVersion = new Map<string, string>();
  let count = updaters.length;
  for (const [id, updater] of oldestFirst) {
    if (count <= maxUpdaters) break;
    const first = firstOfVersion.get(updater.apiVersion);
    if (first === undefined) {
      firstOfVersion.set(updater.apiVersion, id);
      continue;
    }
    const bucket: Omit<Manager, "set"> = {
      manager: bucketName,
      operation: "Update",
      apiVersion: updater.apiVersion,
      subresource: "",
      time: updater.time,
    };
    const bucketId = managerId(bucket);
    const merged = result.get(bucketId) ?? result.get(first);
    if (!result.has(bucketId)) result.delete(first);
    result.delete(id);
    result.set(bucketId, { ...bucket, set: merged === undefined ? updater.set : union(merged.set, updater.set) });
    count -= 1;
  }
  return result;
}
