import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { digestOf } from "../../../lib/core/digest.ts";
import type { BuildSpec } from "../../../lib/manifests/build-spec.ts";
import { cachedBuild } from "../../../lib/manifests/cached-build.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { artifactOf, configMap, type Files, noEngine, owner } from "./build-files.ts";

const signal = new AbortController().signal;
const deps = { engine: noEngine, workFolder: join(tmpdir(), "sluice-unused"), log: silentLog };

async function inputOf(files: Files, spec: BuildSpec = {}) {
  const bytes = await artifactOf(files);
  return {
    artifact: digestOf(bytes),
    archive: vi.fn<() => Promise<Uint8Array>>(() => Promise.resolve(bytes)),
    spec,
    owner,
  };
}

test("the same artifact, spec and owner is built once; any other is another build", async () => {
  const build = cachedBuild(deps);
  const input = await inputOf({ "a.yaml": configMap("a") }, { targetNamespace: "x" });
  const first = await build(input, signal);
  expect(await build({ ...input, spec: { targetNamespace: "x" } }, signal)).toBe(first);
  expect(await build({ ...input, spec: { targetNamespace: "y" } }, signal)).not.toBe(first);
  expect(await build({ ...input, owner: { ...owner, name: "other" } }, signal)).not.toBe(first);
  const sameOwnerLater = Object.assign({ resourceVersion: "2" }, owner);
  expect(await build({ ...input, owner: sameOwnerLater }, signal)).toBe(first);
  const changed = await inputOf({ "a.yaml": configMap("b") }, { targetNamespace: "x" });
  expect((await build(changed, signal))?.manifests[0]?.metadata.name).toBe("b");
});

test("an artifact is fetched only for what was not built before", async () => {
  const build = cachedBuild(deps);
  const input = await inputOf({ "a.yaml": configMap("a") });
  await build(input, signal);
  await build(input, signal);
  expect(input.archive).toHaveBeenCalledTimes(1);
  await build({ ...input, spec: { targetNamespace: "y" } }, signal);
  expect(input.archive).toHaveBeenCalledTimes(2);
});

test("an artifact that is not there, or cannot be fetched, is asked for again", async () => {
  const build = cachedBuild(deps);
  const input = await inputOf({ "a.yaml": configMap("a") });
  const lost = { ...input, archive: () => Promise.resolve(undefined) };
  expect(await build(lost, signal)).toBeUndefined();
  const unreachable = { ...input, archive: () => Promise.reject(new Error("no answer")) };
  await expect(build(unreachable, signal)).rejects.toThrow("no answer");
  expect(await build(input, signal)).toMatchObject({ manifests: [{ metadata: { name: "a" } }] });
});

test("what was not used for longest is forgotten first, and what is larger than all room at once", async () => {
  const files = { "a.yaml": configMap("a") };
  const inputs = await Promise.all(
    ["team-x", "team-y", "team-z"].map((targetNamespace) => inputOf(files, { targetNamespace })),
  );
  const [x = inputs[0], y = inputs[0], z = inputs[0]] = inputs;
  if (x === undefined || y === undefined || z === undefined) throw new Error("three inputs");
  const { bytes } = (await cachedBuild(deps)(x, signal)) ?? { bytes: Number.NaN };
  const build = cachedBuild(deps, 2 * bytes);
  const [builtX, builtY] = [await build(x, signal), await build(y, signal)];
  expect(await build(x, signal)).toBe(builtX);
  await build(z, signal);
  expect(await build(x, signal)).toBe(builtX);
  expect(await build(y, signal)).not.toBe(builtY);
  const roomless = cachedBuild(deps, bytes - 1);
  expect(await roomless(x, signal)).not.toBe(await roomless(x, signal));
});

test("an artifact that no disk takes fails with words of its own", async () => {
  const input = await inputOf({ "kustomization.yaml": "resources: []\n", [`${"a".repeat(300)}.txt`]: "" });
  const workFolder = await mkdtemp(join(tmpdir(), "sluice-full-"));
  try {
    const building = cachedBuild({ ...deps, workFolder })(input, signal);
    await expect(building).rejects.toMatchObject({
      reason: "DirectoryCreationFailed",
      message: expect.stringContaining("failed to write the artifact to the work folder: ENAMETOOLONG"),
    });
    expect(await readdir(workFolder)).toEqual([]);
  } finally {
    await rm(workFolder, { recursive: true });
  }
});

test("the next run removes what killed processes have left, and only that", async () => {
  const workFolder = await mkdtemp(join(tmpdir(), "sluice-left-"));
  const noPid = 2 ** 22 + 1;
  try {
    for (const name of [`build-${noPid}-abc`, `build-${process.ppid}-abc`, "other"])
      await mkdir(join(workFolder, name));
    const input = await inputOf({ "kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": configMap("a") });
    const engine = { build: () => Promise.resolve("") };
    await cachedBuild({ ...deps, engine, workFolder })(input, signal);
    expect(await readdir(workFolder)).toEqual([`build-${process.ppid}-abc`, "other"]);
  } finally {
    await rm(workFolder, { recursive: true });
  }
});
