import { formatJson } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { formatWorkKey, type WorkKey } from "../../core/work-key.ts";

/** One state of one object, as the API server names it. */
export interface ObjectVersion {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The objects of home clusters as this process last read them, with the rights of the installation. */
export interface ObjectCache {
  /** The object in this version; undefined if another one is cached or none. */
  get(key: WorkKey, version: ObjectVersion): LiveObject | undefined;
  put(key: WorkKey, live: LiveObject): void;
}

/** Text of the cached objects of one cluster, of which a process holds the latest: about 1,000 usual Kustomizations. */
export const maxCachedBytes = 4 * 1024 * 1024;
/** A larger object is read in each run: it would take the place of many. */
export const maxCachedObjectBytes = 128 * 1024;

/** An empty cache. The objects of a cluster are found by its key alone. */
export function objectCache(): ObjectCache {
  /** The one that was put or got last is the last. */
  const cached = new Map<string, { readonly live: LiveObject; readonly bytes: number }>();
  let total = 0;
  const drop = (name: string): void => {
    total -= cached.get(name)?.bytes ?? 0;
    cached.delete(name);
  };
  return {
    get(key, version) {
      const name = formatWorkKey(key);
      const found = cached.get(name);
      if (found === undefined || !isVersion(found.live, version)) return undefined;
      cached.delete(name);
      cached.set(name, found);
      return found.live;
    },
    put(key, live) {
      const name = formatWorkKey(key);
      drop(name);
      const bytes = Buffer.byteLength(formatJson(live));
      if (bytes > maxCachedObjectBytes) return;
      cached.set(name, { live, bytes });
      total += bytes;
      for (const oldest of cached.keys()) {
        if (total <= maxCachedBytes) return;
        drop(oldest);
      }
    },
  };
}

/** The version of an object; undefined where the API server has told none. */
export function versionOf({ metadata: { uid, resourceVersion } }: LiveObject): ObjectVersion | undefined {
  return resourceVersion === undefined ? undefined : { uid, resourceVersion };
}

function isVersion({ metadata }: LiveObject, { uid, resourceVersion }: ObjectVersion): boolean {
  return metadata.uid === uid && metadata.resourceVersion === resourceVersion;
}
