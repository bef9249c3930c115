import { expect, test, vi } from "vitest";
import { digestOf } from "../../../lib/core/digest.ts";
import type { BuildSpec } from "../../../lib/manifests/build-spec.ts";
import { cachedBuild } from "../../../lib/manifests/cached-build.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { artifactOf, configMap, type Files, noEngine, owner } from "./build-files.ts";

const signal = new AbortController().signal;
const deps = { engine: noEngine, log: silentLog };

async function inputOf(files: Files, spec: BuildSpec = {}) {
  const bytes = await artifactOf(files);
  return {
    artifact: digestOf(bytes),
    archive: vi.fn<() => Promise<Uint8Array>>(() => Promise.resolve(bytes)),
    spec,
    owner,
    inputs: digestOf("nothing"),
  };
}

test("the same owner, artifact, spec and inputs are built once; any other is another build", async () => {
  const build = cachedBuild(deps);
  const input = await inputOf({ "a.yaml": configMap("a") }, { targetNamespace: "x" });
  const first = await build(input, signal);
  expect(await build({ ...input, spec: { targetNamespace: "x" } }, signal)).toBe(first);
  expect(await build({ ...input, spec: { targetNamespace: "y" } }, signal)).not.toBe(first);
  expect(await build({ ...input, owner: { ...owner, uid: "another" } }, signal)).not.toBe(first);
  const sameOwnerLater = Object.assign({ resourceVersion: "2" }, owner);
  expect(await build({ ...input, owner: sameOwnerLater }, signal)).toBe(first);
  expect(await build({ ...input, inputs: digestOf("a value to substitute") }, signal)).not.toBe(first);
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
