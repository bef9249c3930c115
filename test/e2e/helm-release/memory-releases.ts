import { ApiError } from "../../../lib/core/ports/cluster.ts";
import type { ReleaseRecord } from "../../../lib/core/ports/helm-engine.ts";
import type { AttemptMark, ReleaseStore, StoredRevision } from "../../../lib/helm/release-store.ts";

/** The revisions of a release, in memory. */
export interface MemoryReleases extends ReleaseStore {
  /** The latest first. */
  all(): readonly StoredRevision[];
  latest(): StoredRevision;
}

/** A store that is empty. */
export function memoryReleases(): MemoryReleases {
  const revisions = new Map<number, StoredRevision>();
  let writes = 0;
  const put = ({ bytes, observed }: ReleaseRecord, uid: string, mark: AttemptMark | undefined): StoredRevision => {
    const { version, status } = observed;
    const stored = { version, status, uid, resourceVersion: String(++writes), bytes, observed, mark };
    revisions.set(version, stored);
    return stored;
  };
  const all = () => [...revisions.values()].toSorted((a, b) => b.version - a.version);
  const check = ({ version, resourceVersion }: Pick<StoredRevision, "resourceVersion" | "version">) => {
    if (revisions.get(version)?.resourceVersion === resourceVersion) return;
    throw new ApiError({ code: 409, reason: "Conflict", message: "another writer was there" });
  };
  return {
    all,
    latest: () => {
      const [latest] = all();
      if (latest === undefined) throw new Error("no revision is stored");
      return latest;
    },
    heads: async () =>
      all().map(({ version, status, uid, resourceVersion }) => ({ version, status, uid, resourceVersion })),
    read: async (version) => revisions.get(version),
    create: async (record, mark) => {
      if (revisions.has(record.observed.version))
        throw new ApiError({ code: 409, reason: "AlreadyExists", message: "" });
      return put(record, `uid-${record.observed.version}`, mark);
    },
    update: async (stored, record, mark) => {
      check(stored);
      return put(record, stored.uid, mark);
    },
    remove: async (head) => {
      check(head);
      revisions.delete(head.version);
    },
  };
}
