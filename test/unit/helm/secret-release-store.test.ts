import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import type { ObservedRelease, ReleaseRecord } from "../../../lib/core/ports/helm-engine.ts";
import { noTenant } from "../../../lib/core/tenant.ts";
import { maxRecordBytes, maxSecretDataBytes, secretReleaseStore } from "../../../lib/helm/secret-release-store.ts";
import { noCluster } from "../../doubles/no-cluster.ts";
import { noHelm } from "../../doubles/no-helm.ts";
import { partOf } from "../../doubles/part-of.ts";

const { signal } = new AbortController();
const names = { name: "app", storageNamespace: "apps" };
const clock = { now: () => Date.parse("2026-01-01T00:00:00Z") };

function secretWith(release: string, more: object = {}): LiveObject {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "sh.helm.release.v1.app.v1",
      namespace: "apps",
      uid: "u",
      labels: { version: "1", status: "deployed" },
    },
    type: "helm.sh/release.v1",
    data: { release },
    ...more,
  };
}

function storeOf(secret: LiveObject | undefined) {
  const cluster = { ...noCluster, get: async () => secret };
  return secretReleaseStore(names, { cluster, helm: noHelm, clock, tenant: noTenant });
}

function recordOf(bytes: Uint8Array<ArrayBuffer>): ReleaseRecord {
  const observed = partOf<ObservedRelease>({ name: "app", namespace: "apps", version: 1, status: "pending-install" });
  return { bytes, observed };
}

const packed = (bytes: Uint8Array): string => Buffer.from(gzipSync(bytes).toString("base64")).toString("base64");

test("a release record that is too large for a Secret is refused before any request", async () => {
  const store = storeOf(undefined);
  const large = Uint8Array.from(randomBytes(maxSecretDataBytes));
  await expect(store.create(recordOf(large), undefined, signal)).rejects.toMatchObject({
    reason: "ReleaseTooLarge",
    message: expect.stringMatching(
      /^the record of release apps\/app has \d+ bytes, and a Secret holds 1048576: take files out/,
    ),
  });
});

test.each([
  ["of another type", secretWith("", { type: "Opaque" }), "its type is not helm.sh/release.v1"],
  ["without the key", secretWith("", { data: {} }), "it has no key release"],
  ["that is damaged", secretWith(Buffer.from("no gzip").toString("base64")), "incorrect header check"],
  [
    "that inflates beyond the limit",
    secretWith(packed(Buffer.alloc(maxRecordBytes + 1))),
    "Cannot create a Buffer larger than",
  ],
  [
    "without the labels of a revision",
    { ...secretWith(""), metadata: { ...secretWith("").metadata, labels: {} } },
    "its labels are not those of a release",
  ],
])("a release Secret %s gives one clear error", async (_what, secret, why) => {
  await expect(storeOf(secret).read(1, "", signal)).rejects.toMatchObject({
    reason: "StateError",
    message: expect.stringContaining(`Secret/apps/sh.helm.release.v1.app.v1 is not a readable release: ${why}`),
  });
});

describe("a revision that the store has written", () => {
  /** A store over one Secret, and how often it was read. */
  async function written() {
    const metadata = { name: "sh.helm.release.v1.app.v1", namespace: "apps", uid: "u", resourceVersion: "1" };
    const stored = { ...secretWith(packed(Buffer.from("of another writer"))), metadata: { ...metadata, labels: {} } };
    let reads = 0;
    let lists = 0;
    const cluster = {
      ...noCluster,
      create: async () => stored,
      patch: async () => stored,
      listMetadata: async () => {
        lists++;
        return [{ ...stored, metadata: { ...stored.metadata, labels: { version: "1" } } }];
      },
      get: async () => {
        reads++;
        return { ...stored, metadata: { ...stored.metadata, labels: { version: "1", status: "deployed" } } };
      },
    };
    const observe = async () => partOf<ObservedRelease>({ description: "of another writer", ociDigest: "" });
    const store = secretReleaseStore(names, { cluster, helm: { ...noHelm, observe }, clock, tenant: noTenant });
    const record = recordOf(Uint8Array.from(Buffer.from("ours")));
    const own = { ...record, observed: { ...record.observed, description: "ours", ociDigest: "" } };
    const revision = await store.create(own, undefined, signal);
    const update = () => store.update(revision, own, undefined, signal);
    return { store, update, lists: () => lists, reads: () => reads, metadata: stored.metadata };
  }

  test("is listed once, and again after the store has written", async () => {
    const { lists, store, update } = await written();
    await store.heads(signal);
    await store.heads(signal);
    expect(lists()).toBe(1);
    await update();
    await store.heads(signal);
    expect(lists()).toBe(2);
  });

  test("is not read again while the lists of metadata show it unchanged", async () => {
    const { reads, store } = await written();
    await store.heads(signal);
    expect((await store.read(1, "", signal))?.observed.description).toBe("ours");
    expect(reads()).toBe(0);
  });

  test("is read again once a list shows that another writer has changed it", async () => {
    const { metadata, reads, store } = await written();
    metadata.resourceVersion = "2";
    await store.heads(signal);
    expect((await store.read(1, "", signal))?.observed.description).toBe("of another writer");
    expect(reads()).toBe(1);
  });

  test("is read for the digest of another artifact, which its own digest is made of", async () => {
    const { reads, store } = await written();
    await store.read(1, "sha256:other", signal);
    expect(reads()).toBe(1);
  });
});
