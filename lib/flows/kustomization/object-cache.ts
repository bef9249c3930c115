import { type ByteBoundedCache, byteBoundedCache } from "../../core/byte-bounded-cache.ts";
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
  /** The object in this version; undefined if another version or none is cached. */
  get(key: WorkKey, version: ObjectVersion): LiveObject | undefined;
  put(key: WorkKey, live: LiveObject): void;
}

/** The limit for the objects of all clusters together: enough for about 1,000 usual Kustomizations with their sources. */
export const maxObjectCacheBytes = 32 * 1024 * 1024;
/** The memory of one character of an object's text once it is parsed. */
const bytesPerCharacter = 4;

/** An empty cache. */
export function objectCache(): ObjectCache {
  const cached: ByteBoundedCache<string, LiveObject> = byteBoundedCache(
    maxObjectCacheBytes,
    (live) => bytesPerCharacter * formatJson(live).length,
  );
  return {
    get(key, { uid, resourceVersion }) {
      const live = cached.get(formatWorkKey(key));
      return live?.metadata.uid === uid && live.metadata.resourceVersion === resourceVersion ? live : undefined;
    },
    put: (key, live) => cached.set(formatWorkKey(key), live),
  };
}

/** The version of an object; undefined if the API server gave none. */
export function versionOf({ metadata: { uid, resourceVersion } }: LiveObject): ObjectVersion | undefined {
  return resourceVersion === undefined ? undefined : { uid, resourceVersion };
}
