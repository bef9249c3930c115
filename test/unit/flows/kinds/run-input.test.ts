import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../lib/core/json.ts";
import type { LiveObject, Metadata } from "../../../../lib/core/manifest.ts";
import type { HomeCluster } from "../../../../lib/core/ports/home-and-target.ts";
import { kinds } from "../../../../lib/flows/kinds/kinds.ts";
import { runInput } from "../../../../lib/flows/kinds/run-input.ts";
import { keyOf } from "../../../contract/state-back-end.ts";

const never = new AbortController().signal;
const key = keyOf("web");
const spec = { interval: "1m", prune: true, sourceRef: { kind: "OCIRepository", name: "web" } };

interface Seen {
  readonly metadata?: Partial<Metadata>;
  readonly spec?: JsonObject;
  readonly revision?: string;
  readonly sourceNamespace?: string;
}

function inputOf({
  metadata = {},
  spec: asked = spec,
  revision = "v1@sha256:0",
  sourceNamespace = "apps",
}: Seen): Promise<string> {
  const live: LiveObject = {
    apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    kind: "Kustomization",
    metadata: { name: "web", namespace: "apps", uid: "uid-1", generation: 1, ...metadata },
    spec: asked,
  };
  const source: LiveObject = {
    apiVersion: "source.toolkit.fluxcd.io/v1",
    kind: "OCIRepository",
    metadata: { name: "web", namespace: sourceNamespace, uid: "uid-2" },
    status: { artifact: { revision, digest: "sha256:0", path: "p", url: "u", lastUpdateTime: "2026-11-21T12:00:00Z" } },
  };
  const home: Pick<HomeCluster, "get" | "role"> = {
    role: "home",
    get: async (ref) =>
      [live, source].find((each) => each.kind === ref.kind && each.metadata.namespace === ref.namespace),
  };
  return runInput(key, { home, kinds }, never);
}

describe("the inputs of a run", () => {
  test("are the same while nothing changes", async () => {
    const metadata = { labels: { a: "b" }, resourceVersion: "7", annotations: { other: "note" } };
    expect(await inputOf({ metadata })).toBe(await inputOf({}));
  });

  test.each<{ name: string } & Seen>([
    { name: "its spec", metadata: { generation: 2 } },
    { name: "its requested time", metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": "now" } } },
    { name: "its identity", metadata: { uid: "uid-9" } },
    { name: "its deletion", metadata: { deletionTimestamp: "2026-11-21T00:00:00Z" } },
    { name: "its source's revision", revision: "v2@sha256:1" },
    { name: "its source is created", sourceNamespace: "elsewhere" },
  ])("differ when this changes: $name", async (seen) => {
    expect(await inputOf(seen)).not.toBe(await inputOf({}));
  });

  test("include a source in another namespace", async () => {
    const elsewhere = { ...spec, sourceRef: { ...spec.sourceRef, namespace: "sources" } };
    const before = await inputOf({ spec: elsewhere, sourceNamespace: "sources" });
    expect(await inputOf({ spec: elsewhere, sourceNamespace: "sources", revision: "v2@sha256:1" })).not.toBe(before);
  });

  test("treat an empty source namespace as unset", async () => {
    const empty = { ...spec, sourceRef: { ...spec.sourceRef, namespace: "" } };
    expect(await inputOf({ spec: empty, revision: "v2@sha256:1" })).not.toBe(await inputOf({ spec: empty }));
  });

  test("include no source if its name is empty", async () => {
    const unnamed = { ...spec, sourceRef: { ...spec.sourceRef, name: "" } };
    expect(await inputOf({ spec: unnamed, revision: "v2@sha256:1" })).toBe(await inputOf({ spec: unnamed }));
  });

  test("are defined for a spec that cannot be parsed, and for a missing object", async () => {
    expect(await inputOf({ spec: { interval: 7 } })).toContain("uid-1");
    expect(await runInput(key, { home: { role: "home", get: async () => undefined }, kinds }, never)).toBe("absent");
  });
});
