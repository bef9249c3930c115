import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { z } from "zod";
import { Failure, messageOf } from "../core/failure.ts";
import type { LiveObject, Manifest, Metadata } from "../core/manifest.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Cluster } from "../core/ports/cluster.ts";
import type { EngineLimits } from "../core/ports/engine.ts";
import { type HelmEngine, HelmEngineError, type ReleaseRecord, type ReleaseStatus } from "../core/ports/helm-engine.ts";
import type { Tenant } from "../core/tenant.ts";
import {
  AttemptMark,
  attemptAnnotation,
  type ReleaseStore,
  type RevisionHead,
  type StoredRevision,
} from "./release-store.ts";

/** The API server refuses a Secret whose data has more. */
export const maxSecretDataBytes = 1024 * 1024;
/** The limit for an uncompressed record. */
export const maxRecordBytes = 32 * 1024 * 1024;

const recordLimits: EngineLimits = { maxCpuMs: 20_000, maxWallMs: 60_000, maxOutputBytes: 64 * 1024 * 1024 };
const secretType = "helm.sh/release.v1";
const manager = "helm-controller";

/** The parts that a store of releases needs. */
export interface SecretReleaseStoreDeps {
  /** The cluster of the release, with the rights of the release. */
  readonly cluster: Pick<Cluster, "create" | "delete" | "get" | "listMetadata" | "patch">;
  readonly helm: Pick<HelmEngine, "observe">;
  readonly clock: Pick<Clock, "now">;
  readonly tenant: Tenant;
}

/**
 * The Secrets of a release of this name, as Helm's own driver keeps them (helm.sh/helm/v4/pkg/storage/driver/secrets.go). One run uses it:
 * the revisions are listed once and again after each write, and a revision that was read or written here is not read again until a list
 * shows that another writer has changed it.
 */
export function secretReleaseStore(
  { name, storageNamespace }: { readonly name: string; readonly storageNamespace: string },
  { clock, cluster, helm, tenant }: SecretReleaseStoreDeps,
): ReleaseStore {
  const refOf = (version: number) => ({
    ...{ group: "", version: "v1", kind: "Secret", namespace: storageNamespace },
    name: `sh.helm.release.v1.${name}.v${version}`,
  });
  const labelsOf = ({ observed }: ReleaseRecord) => ({
    name,
    owner: "helm",
    status: observed.status,
    version: String(observed.version),
  });
  const seconds = (): string => String(Math.floor(clock.now() / 1000));
  /** What was read or written here, as long as the lists of metadata show it unchanged. */
  const known = new Map<number, StoredRevision>();
  // The last list, until the next write: the API server answers a list up to 0.1 s late, since its cache waits until it is as new as etcd.
  let listed: readonly RevisionHead[] | undefined;
  const keep = (stored: StoredRevision): StoredRevision => {
    known.set(stored.version, stored);
    return stored;
  };
  return {
    async heads(signal) {
      if (listed !== undefined) return listed;
      const labelSelector = `name=${name},owner=helm`;
      const query = { group: "", version: "v1", kind: "Secret", namespace: storageNamespace, labelSelector };
      const found = await cluster.listMetadata(query, signal);
      const heads = found.flatMap(({ metadata }) => headOf(metadata) ?? []).toSorted((a, b) => b.version - a.version);
      for (const { uid, resourceVersion, version } of known.values()) {
        const isUnchanged = heads.some((head) => head.uid === uid && head.resourceVersion === resourceVersion);
        if (!isUnchanged) known.delete(version);
      }
      listed = heads;
      return heads;
    },
    async read(version, ociDigest, signal) {
      const before = known.get(version);
      if (before?.observed.ociDigest === ociDigest) return before;
      const secret = await cluster.get(refOf(version), signal);
      if (secret === undefined) return undefined;
      const head = headOf(secret.metadata);
      const what = `Secret/${storageNamespace}/${secret.metadata.name}`;
      if (head === undefined) throw unreadable(what, "its labels are not those of a release");
      const bytes = await decoded(secret, what);
      try {
        const observed = await helm.observe(bytes, { tenant, ociDigest }, recordLimits, signal);
        return keep({ ...head, bytes, observed, mark: markOf(secret.metadata) });
      } catch (error) {
        if (error instanceof HelmEngineError && error.reason === "record") throw unreadable(what, error.message, error);
        throw error;
      }
    },
    async create(record, mark, signal) {
      const release = await encoded(record);
      listed = undefined;
      const { name: secret, namespace } = refOf(record.observed.version);
      const manifest: Manifest = {
        apiVersion: "v1",
        kind: "Secret",
        metadata: {
          name: secret,
          namespace,
          labels: { createdAt: seconds(), ...labelsOf(record) },
          ...(mark === undefined ? {} : { annotations: { [attemptAnnotation]: JSON.stringify(mark) } }),
        },
        type: secretType,
        data: { release },
      };
      return keep(storedAs(await cluster.create(manifest, { manager }, signal), record, mark));
    },
    async update(stored, record, mark, signal) {
      const release = await encoded(record);
      listed = undefined;
      const body = {
        metadata: {
          resourceVersion: stored.resourceVersion,
          labels: { createdAt: null, modifiedAt: seconds(), ...labelsOf(record) },
          annotations: { [attemptAnnotation]: mark === undefined ? null : JSON.stringify(mark) },
        },
        data: { release },
      };
      const patched = await cluster.patch(refOf(stored.version), { type: "merge", body }, { manager }, signal);
      return keep(storedAs(patched, record, mark));
    },
    async remove({ version, uid }, signal) {
      known.delete(version);
      listed = undefined;
      await cluster.delete(refOf(version), { uid, propagation: "Background" }, signal);
    },
  };
}

function headOf({ labels = {}, resourceVersion = "", uid = "" }: Metadata): RevisionHead | undefined {
  const version = Number(labels["version"]);
  if (!Number.isSafeInteger(version) || version < 1) return undefined;
  const status = ReleaseStatusText.catch("unknown").parse(labels["status"]);
  return { version, status, uid, resourceVersion };
}

const ReleaseStatusText = z.enum([
  "deployed",
  "failed",
  "pending-install",
  "pending-rollback",
  "pending-upgrade",
  "superseded",
  "uninstalled",
  "uninstalling",
  "unknown",
] satisfies readonly ReleaseStatus[]);

function markOf({ annotations = {} }: Metadata): AttemptMark | undefined {
  const text = annotations[attemptAnnotation];
  if (text === undefined) return undefined;
  try {
    return AttemptMark.safeParse(JSON.parse(text)).data;
  } catch {
    // Not JSON: a mark of another writer, which means nothing here.
    return undefined;
  }
}

function storedAs({ metadata }: LiveObject, record: ReleaseRecord, mark: AttemptMark | undefined): StoredRevision {
  const { resourceVersion = "", uid } = metadata;
  const { status, version } = record.observed;
  return { version, status, uid, resourceVersion, bytes: record.bytes, observed: record.observed, mark };
}

/** Base64 twice: once by Helm, once since it lies in the data of a Secret. */
async function encoded({ bytes, observed }: ReleaseRecord): Promise<string> {
  const text = (await promisify(gzip)(bytes, { level: 9 })).toString("base64");
  if (text.length > maxSecretDataBytes) {
    throw new Failure(
      "ReleaseTooLarge",
      `the record of release ${observed.namespace}/${observed.name} has ${text.length} bytes, and a Secret holds ${maxSecretDataBytes}: take files out of the chart that it does not need, shorten its values, or split it`,
    );
  }
  return Buffer.from(text).toString("base64");
}

async function decoded(secret: LiveObject, what: string): Promise<Uint8Array<ArrayBuffer>> {
  const { data } = SecretData.safeParse(secret).data ?? {};
  const release = data?.release;
  if (secret["type"] !== secretType) throw unreadable(what, `its type is not ${secretType}`);
  if (release === undefined) throw unreadable(what, "it has no key release");
  const inner = Buffer.from(release, "base64").toString("latin1");
  try {
    const options = { maxOutputLength: maxRecordBytes };
    return Uint8Array.from(await promisify(gunzip)(Buffer.from(inner, "base64"), options));
  } catch (error) {
    throw unreadable(what, messageOf(error), error);
  }
}

const SecretData = z.object({ data: z.object({ release: z.string().exactOptional() }) });

function unreadable(what: string, why: string, cause?: unknown): Failure {
  const mend = "restore it from a backup, or delete it: without any revision the release is installed again";
  return new Failure("StateError", `${what} is not a readable release: ${why}; ${mend}`, { cause });
}
