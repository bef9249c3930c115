import { expect, test } from "vitest";
import { declaredKinds } from "../../../../lib/api/kinds/declared-kinds.ts";
import type { Json } from "../../../../lib/core/json.ts";
import type { LiveObject, Metadata } from "../../../../lib/core/manifest.ts";
import type { VersionedRef } from "../../../../lib/core/object-ref.ts";
import { readSource, type SourceReader, sourcesAmong } from "../../../../lib/flows/source/read-source.ts";

const never = new AbortController().signal;
const group = "source.toolkit.fluxcd.io";
const artifact = { digest: "sha256:0", path: "p", url: "u", revision: "v1", lastUpdateTime: "2026-11-21T12:00:00Z" };
const bucket = { group, kind: "Bucket", versions: ["v2", "v1"] } as const;

interface Held {
  readonly metadata?: Partial<Metadata>;
  readonly spec?: Json;
  readonly status?: Json;
}

/** Reads the source `Bucket/apps/web`, of which the cluster holds this. */
async function read(held: Held | undefined) {
  const asked: VersionedRef[] = [];
  const get = async (ref: VersionedRef): Promise<LiveObject | undefined> => {
    asked.push(ref);
    if (held === undefined) return undefined;
    const metadata = { name: "web", namespace: "apps", uid: "uid-1", ...held.metadata };
    return { apiVersion: `${group}/v2`, kind: "Bucket", ...held, metadata };
  };
  const key = { group, kind: "Bucket", namespace: "apps", name: "web" };
  const source = await readSource(key, { home: { role: "home", get }, sources: [bucket] }, never);
  return { source, asked };
}

test("a source of any kind is read in the version that its own flow reads", async () => {
  const { source, asked } = await read({ status: { artifact, observedGeneration: 3 } });
  expect(source).toEqual({ uid: "uid-1", artifact });
  expect(asked).toEqual([expect.objectContaining({ group, version: "v2", kind: "Bucket" })]);
});

test("a consumer reads only the artifact of a source: an invalid spec or condition does not matter", async () => {
  const { source } = await read({ spec: { interval: 7 }, status: { artifact, conditions: "none" } });
  expect(source?.artifact).toEqual(artifact);
});

test.each([
  { what: "has none yet", live: {} },
  { what: "is being deleted", live: { metadata: { deletionTimestamp: "2026-11-21T12:00:00Z" }, status: { artifact } } },
  { what: "has one that cannot be read", live: { status: { artifact: { ...artifact, revision: 1 } } } },
])("a source that $what has no artifact", async ({ live }) => {
  expect((await read(live)).source).toEqual({ uid: "uid-1", artifact: undefined });
});

test("a missing source is undefined", async () => {
  expect((await read(undefined)).source).toBeUndefined();
});

test("reading a kind that is not a source throws as a bug", async () => {
  const reader: SourceReader = {
    home: { role: "home", get: async () => undefined },
    sources: sourcesAmong(declaredKinds),
  };
  const key = { group: "kustomize.toolkit.fluxcd.io", kind: "Kustomization", namespace: "apps", name: "web" };
  await expect(readSource(key, reader, never)).rejects.toThrow(
    "Kustomization.kustomize.toolkit.fluxcd.io is not a kind",
  );
});
