import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cachedBuild } from "../../../lib/manifests/cached-build.ts";
import { artifactOf, configMap, noEngine, owner, silent } from "./build-files.ts";

const signal = new AbortController().signal;
const deps = { engine: noEngine, workFolder: join(tmpdir(), "sluice-unused"), log: silent };

test("the same artifact, spec and owner is built once; any other is another build", async () => {
  const build = cachedBuild(deps);
  const input = { archive: await artifactOf({ "a.yaml": configMap("a") }), spec: { targetNamespace: "x" }, owner };
  const first = await build(input, signal);
  expect(await build({ ...input, spec: { targetNamespace: "x" } }, signal)).toBe(first);
  expect(await build({ ...input, spec: { targetNamespace: "y" } }, signal)).not.toBe(first);
  expect(await build({ ...input, owner: { ...owner, name: "other" } }, signal)).not.toBe(first);
  const sameOwnerLater = Object.assign({ resourceVersion: "2" }, owner);
  expect(await build({ ...input, owner: sameOwnerLater }, signal)).toBe(first);
  const changed = { ...input, archive: await artifactOf({ "a.yaml": configMap("b") }) };
  expect((await build(changed, signal)).manifests[0]?.metadata.name).toBe("b");
});

test("what was not used for longest is forgotten first, and what is larger than all room at once", async () => {
  const archive = await artifactOf({ "a.yaml": configMap("a") });
  const inputs = ["team-x", "team-y", "team-z"].map((targetNamespace) => ({
    archive,
    spec: { targetNamespace },
    owner,
  }));
  const [x = inputs[0], y = inputs[0], z = inputs[0]] = inputs;
  if (x === undefined || y === undefined || z === undefined) throw new Error("three inputs");
  const { bytes } = await cachedBuild(deps)(x, signal);
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
  const archive = await artifactOf({ "kustomization.yaml": "resources: []\n", [`${"a".repeat(300)}.txt`]: "" });
  const workFolder = await mkdtemp(join(tmpdir(), "sluice-full-"));
  try {
    const building = cachedBuild({ ...deps, workFolder })({ archive, spec: {}, owner }, signal);
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
    const archive = await artifactOf({ "kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": configMap("a") });
    const engine = { build: () => Promise.resolve("") };
    await cachedBuild({ ...deps, engine, workFolder })({ archive, spec: {}, owner }, signal);
    expect(await readdir(workFolder)).toEqual([`build-${process.ppid}-abc`, "other"]);
  } finally {
    await rm(workFolder, { recursive: true });
  }
});
