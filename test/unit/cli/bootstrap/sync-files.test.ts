import { describe, expect, test } from "vitest";
import {
  changedFiles,
  checkFolder,
  maxSyncFileBytes,
  readSyncFiles,
  type SyncFiles,
} from "../../../../cli/bootstrap/sync-files.ts";
import { clusterOf, type SyncOptions, syncObjects, syncText } from "../../../../cli/bootstrap/sync-manifests.ts";
import type { CloneFile, GitClone } from "../../../../lib/sources/git/write/git-clone.ts";

const { signal } = new AbortController();
const folder = { path: "./clusters/prod", namespace: "flux-system" };
const at = "clusters/prod/flux-system";
const options: SyncOptions = {
  ...{ name: "flux-system", namespace: "flux-system", url: "ssh://git@github.com/acme/fleet", branch: "main" },
  ...{ interval: "1m0s", path: "./clusters/prod", secretName: "flux-system", cluster: "uid-1" },
  ...{ recurseSubmodules: false, sparseCheckout: [] },
};
const nothing: SyncFiles = {
  sync: undefined,
  kustomization: undefined,
  hasComponents: false,
  others: new Map(),
  around: new Map(),
};
const claim = { cluster: "uid-1", isFollowed: false, force: false };

/** A clone that has these files. */
function cloneOf(files: Readonly<Record<string, string>>, type: CloneFile["type"] = "file"): GitClone {
  const unused = () => Promise.reject(new Error("nothing is written"));
  return {
    head: "0".repeat(40),
    commit: unused,
    push: unused,
    async *files(path) {
      for (const [name, text] of Object.entries(files)) {
        if (path === "" || name.startsWith(`${path}/`)) {
          yield { path: name, type, oid: "", read: () => Promise.resolve(Buffer.from(text)) };
        }
      }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

describe("the files of a bootstrap", () => {
  test("are read from the folder of the namespace only", async () => {
    const files = { [`${at}/gotk-sync.yaml`]: "a", [`${at}/kustomization.yaml`]: "b", [`${at}/other.yaml`]: "c" };
    const elsewhere = { "clusters/prod/gotk-sync.yaml": "d", "clusters/prod/flux-system/gotk-components.yaml": "e" };
    expect(await readSyncFiles(cloneOf(files), folder, signal)).toEqual({
      ...{ sync: "a", kustomization: "b", hasComponents: false, others: new Map(), around: new Map() },
    });
    expect(await readSyncFiles(cloneOf(elsewhere), folder, signal)).toEqual({ ...nothing, hasComponents: true });
  });

  test("for the root of the repository are in the folder of the namespace", async () => {
    const root = { path: "./", namespace: "flux-system" };
    const found = await readSyncFiles(cloneOf({ "flux-system/gotk-sync.yaml": "a" }), root, signal);
    expect(found.sync).toBe("a");
    expect([...changedFiles(nothing, root, "text").keys()]).toEqual([
      "flux-system/gotk-sync.yaml",
      "flux-system/kustomization.yaml",
    ]);
  });

  test("name the clusters of all folders below the path, which are applied with it", async () => {
    const text = "  sluice.dev/cluster: uid-2\n";
    const files = {
      ...{ "clusters/prod/team/gotk-sync.yaml": text, "clusters/prod/a/b/gotk-sync.yaml": text },
      ...{ "clusters/prod/c/gotk-sync.yaml": "of no cluster", "clusters/eu/flux-system/gotk-sync.yaml": text },
      [`${at}/gotk-sync.yaml`]: text,
    };
    const { others } = await readSyncFiles(cloneOf(files), folder, signal);
    expect([...others]).toEqual([
      ["clusters/prod/team/gotk-sync.yaml", "uid-2"],
      ["clusters/prod/a/b/gotk-sync.yaml", "uid-2"],
    ]);
    const inside = { path: "./clusters/eu/a", namespace: "flux-system" };
    expect([...(await readSyncFiles(cloneOf(files), inside, signal)).around]).toEqual([
      ["clusters/eu/flux-system/gotk-sync.yaml", "uid-2"],
    ]);
    const beside = { path: "./clusters/eu-west", namespace: "flux-system" };
    expect(await readSyncFiles(cloneOf(files), beside, signal)).toEqual(nothing);
    const atRoot = await readSyncFiles(cloneOf(files), { path: "./", namespace: "flux-system" }, signal);
    expect(atRoot.others.size).toBe(4);
  });

  test("must not be symbolic links or longer than 256 KiB", async () => {
    const path = `${at}/gotk-sync.yaml`;
    await expect(readSyncFiles(cloneOf({ [path]: "../a" }, "symlink"), folder, signal)).rejects.toThrow(
      `${path} is a symbolic link: sluice bootstrap writes files only, replace it by a file`,
    );
    const most = "x".repeat(maxSyncFileBytes);
    expect((await readSyncFiles(cloneOf({ [path]: most }), folder, signal)).sync).toBe(most);
    await expect(readSyncFiles(cloneOf({ [path]: `${most}x` }), folder, signal)).rejects.toThrow(
      `${path} has 262145 bytes, and at most 262144 are read: move what sluice bootstrap did not write to another file`,
    );
  });

  test("are written if they are missing or differ, and a user's kustomization.yaml stays", async () => {
    const text = await syncText(syncObjects(options));
    const written = changedFiles(nothing, folder, text);
    expect([...written.keys()]).toEqual([`${at}/gotk-sync.yaml`, `${at}/kustomization.yaml`]);
    const same = { ...nothing, sync: text, kustomization: "resources: [gotk-sync.yaml, mine.yaml]\n" };
    expect(changedFiles(same, folder, text).size).toBe(0);
    expect([...changedFiles({ ...same, sync: "older" }, folder, text).keys()]).toEqual([`${at}/gotk-sync.yaml`]);
  });

  test("name the cluster, which is read back from them", async () => {
    expect(clusterOf(await syncText(syncObjects(options)))).toBe("uid-1");
    expect(clusterOf('metadata:\r\n  annotations:\r\n    sluice.dev/cluster: "uid-2"\r\n')).toBe("uid-2");
    expect(clusterOf("# sluice.dev/cluster: uid-1\n")).toBe(undefined);
    expect(clusterOf(" ".repeat(200_000))).toBe(undefined);
  });
});

describe("a bootstrap folder", () => {
  test.each([
    ["that is empty", nothing, claim],
    ["of this cluster", { ...nothing, sync: "  sluice.dev/cluster: uid-1\n" }, claim],
    ["without a name that this cluster follows", { ...nothing, sync: "a" }, { ...claim, isFollowed: true }],
    [
      "of another cluster, with --force",
      { ...nothing, sync: "  sluice.dev/cluster: uid-2\n" },
      { ...claim, force: true },
    ],
    ["with a folder of this cluster below it", { ...nothing, others: new Map([["a", "uid-1"]]) }, claim],
    [
      "with a folder of another cluster below it, with --force",
      { ...nothing, others: new Map([["a", "uid-2"]]) },
      { ...claim, force: true },
    ],
    ["without a name, by force", { ...nothing, sync: "a" }, { ...claim, force: true }],
  ])("%s is accepted", (_what, files, wanted) => {
    expect(() => checkFolder(files, folder, wanted)).not.toThrow();
  });

  test.each([
    [
      "of another cluster, also one that this cluster follows",
      { ...nothing, sync: "  sluice.dev/cluster: uid-2\n" },
      { ...claim, isFollowed: true },
      `./clusters/prod is the folder of another cluster: ${at}/gotk-sync.yaml names the cluster uid-2, and this one is uid-1. Choose another --path, or give --force if that cluster is gone`,
    ],
    [
      "with a folder of another cluster below it",
      { ...nothing, others: new Map([["clusters/prod/team/gotk-sync.yaml", "uid-2"]]) },
      { ...claim, isFollowed: true },
      "./clusters/prod contains the folder of another cluster: clusters/prod/team/gotk-sync.yaml names the cluster uid-2, and this one, uid-1, would apply it too. Choose another --path, or give --force if that cluster is gone",
    ],
    [
      "in the folder of another cluster",
      { ...nothing, around: new Map([["flux-system/gotk-sync.yaml", "uid-2"]]) },
      claim,
      "./clusters/prod is in the folder of another cluster: flux-system/gotk-sync.yaml names the cluster uid-2, which would also apply the files for this one, uid-1. Choose another --path, or give --force if that cluster is gone",
    ],
    [
      "without a name",
      { ...nothing, sync: "a" },
      claim,
      `${at}/gotk-sync.yaml exists and names no cluster, so another cluster may follow ./clusters/prod: choose another --path, or give --force if no other cluster does`,
    ],
    [
      "with Flux's controllers, also by force",
      { ...nothing, hasComponents: true },
      { ...claim, force: true },
      `${at}/gotk-components.yaml installs Flux's controllers, which would reconcile the same objects as Sluice: remove it and its line in kustomization.yaml (docs/moving-from-flux.md), or choose another --path`,
    ],
  ])("%s is refused", (_what, files, wanted, text) => {
    expect(() => checkFolder(files, folder, wanted)).toThrow(new Error(text));
  });
});

test("submodules and a sparse checkout become fields of the GitRepository", () => {
  const { source } = syncObjects({ ...options, recurseSubmodules: true, sparseCheckout: ["clusters"] });
  expect(source["spec"]).toMatchObject({ recurseSubmodules: true, sparseCheckout: ["clusters"] });
});
