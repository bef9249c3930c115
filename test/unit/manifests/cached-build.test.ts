import { describe, expect, test, vi } from "vitest";
import { KustomizationSpec } from "../../../lib/api/kustomization-spec.ts";
import { digestOf } from "../../../lib/core/digest.ts";
import { Failure, messageOf } from "../../../lib/core/failure.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { cachedBuild } from "../../../lib/manifests/build/cached-build.ts";
import { type BuildSpec, buildSpec, type PostBuild } from "../../../lib/manifests/build-spec.ts";
import type { Decryption } from "../../../lib/manifests/decrypt/decryption.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { canary } from "../../e2e/canary.ts";
import { artifactOf, configMap, type Files, noEngine, owner, realEngine } from "./build-files.ts";
import { decryptionWith, encrypted } from "./decrypt/encrypted-files.ts";

const signal = new AbortController().signal;
const deps = { engine: noEngine, log: silentLog };

async function inputOf(files: Files, spec: BuildSpec = {}) {
  const bytes = await artifactOf(files);
  return {
    artifact: digestOf(bytes),
    archive: vi.fn<() => Promise<Uint8Array>>(() => Promise.resolve(bytes)),
    spec,
    owner,
  };
}

test("the same owner, artifact, spec and inputs are built once; a change in any of them builds again", async () => {
  const build = cachedBuild(deps);
  const input = await inputOf({ "a.yaml": configMap("a") }, { targetNamespace: "x" });
  const first = await build(input, signal);
  expect(await build({ ...input, spec: { targetNamespace: "x" } }, signal)).toBe(first);
  expect(await build({ ...input, spec: { targetNamespace: "y" } }, signal)).not.toBe(first);
  expect(await build({ ...input, owner: { ...owner, uid: "another" } }, signal)).not.toBe(first);
  const sameOwnerLater = Object.assign({ resourceVersion: "2" }, owner);
  expect(await build({ ...input, owner: sameOwnerLater }, signal)).toBe(first);
  const strict = { variables: new Map([["a", "b"]]), secrets: [], always: false, strict: true };
  const substituted = await build({ ...input, postBuild: strict }, signal);
  expect(substituted).not.toBe(first);
  expect(await build({ ...input, postBuild: { ...strict, strict: false } }, signal)).not.toBe(substituted);
  const changed = await inputOf({ "a.yaml": configMap("b") }, { targetNamespace: "x" });
  expect((await build(changed, signal))?.manifests[0]?.metadata.name).toBe("b");
});

/** One other value for each field of a spec that a build depends on. */
const specs: Readonly<Required<BuildSpec>> = {
  path: "./",
  targetNamespace: "x",
  namePrefix: "a-",
  nameSuffix: "-b",
  patches: [{ patch: '[{"op":"add","path":"/data","value":{"a":"b"}}]', target: { kind: "ConfigMap" } }],
  images: [{ name: "web", newTag: "2" }],
  components: ["missing"],
  ignoreMissingComponents: true,
  buildMetadata: ["originAnnotations"],
  commonMetadata: { labels: { a: "b" } },
};

test.each(Object.entries(specs))("a spec with %s is cached separately from one without", async (field, value) => {
  const kustomization = { interval: "1m", prune: true, sourceRef: { kind: "GitRepository", name: "a" } };
  expect(buildSpec(KustomizationSpec.parse({ ...kustomization, [field]: value }))).toEqual({ [field]: value });
  const input = await inputOf({ "a.yaml": configMap("a") });
  let builds = 0;
  const build = cachedBuild(deps);
  const made = (spec: BuildSpec) =>
    build({ ...input, spec, archive: () => input.archive().finally(() => builds++) }, signal).catch(() => undefined);
  await made({});
  await made({ [field]: value });
  await made({});
  expect(builds).toBe(2);
});

const plain: PostBuild = { variables: new Map(), secrets: [], always: false, strict: true };
/** Others than the ones of the plain input; the values of Secrets are hidden in texts alone, and stand among the variables. */
const postBuilds: Readonly<Required<Omit<PostBuild, "secrets">>> = {
  variables: new Map([["a", "b"]]),
  notText: new Set(["a"]),
  always: true,
  strict: false,
  fault: "a variable cannot be read",
};

test.each(Object.entries(postBuilds))("another input of the substitution builds again: %s", async (field, value) => {
  const input = await inputOf({ "a.yaml": configMap("a") });
  let builds = 0;
  const build = cachedBuild(deps);
  const archive = () => input.archive().finally(() => builds++);
  const made = (postBuild: PostBuild) => build({ ...input, postBuild, archive }, signal).catch(() => undefined);
  await made(plain);
  await made({ ...plain, [field]: value });
  await made({ ...plain, variables: new Map() });
  expect(builds).toBe(2);
});

test("an artifact is fetched only if its build is not cached", async () => {
  const build = cachedBuild(deps);
  const input = await inputOf({ "a.yaml": configMap("a") });
  await build(input, signal);
  await build(input, signal);
  expect(input.archive).toHaveBeenCalledTimes(1);
  await build({ ...input, spec: { targetNamespace: "y" } }, signal);
  expect(input.archive).toHaveBeenCalledTimes(2);
});

test("an artifact that is missing, or whose fetch fails, is fetched again", async () => {
  const build = cachedBuild(deps);
  const input = await inputOf({ "a.yaml": configMap("a") });
  const lost = { ...input, archive: () => Promise.resolve(undefined) };
  expect(await build(lost, signal)).toBeUndefined();
  const unreachable = { ...input, archive: () => Promise.reject(new Error("no answer")) };
  await expect(build(unreachable, signal)).rejects.toThrow("no answer");
  expect(await build(input, signal)).toMatchObject({ manifests: [{ metadata: { name: "a" } }] });
});

test("the least recently used build is evicted first, and a build larger than the cache at once", async () => {
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

describe("a build with decryption", () => {
  const failing = () => Promise.reject(new Failure("BuildFailed", 'secrets "sops" not found'));
  const plainOf = (manifests: readonly Manifest[] = []) => JSON.stringify(manifests).includes(btoa(canary));

  test("is cached as it was before its objects were decrypted: the artifact is fetched once, the keys are read in each run", async () => {
    const build = cachedBuild(deps);
    const input = await inputOf({ "data.yaml": encrypted("data.yaml") }, { targetNamespace: "n" });
    const keys = vi.fn<Decryption["keys"]>(decryptionWith().keys);
    const first = await build({ ...input, decryption: decryptionWith({ keys }) }, signal);
    expect(plainOf(first?.manifests)).toBe(true);
    expect(await build({ ...input, decryption: decryptionWith({ keys }) }, signal)).toEqual(first);
    expect(input.archive).toHaveBeenCalledTimes(1);
    expect(keys).toHaveBeenCalledTimes(2);
    await expect(build({ ...input, decryption: decryptionWith({ keys: failing }) }, signal)).rejects.toThrow(
      "not found",
    );
    expect(input.archive).toHaveBeenCalledTimes(1);
  });

  test("reports a changed file and a missing key from the cache with the first text", async () => {
    const build = cachedBuild(deps);
    const input = await inputOf({ "data.yaml": encrypted("data.yaml") }, { targetNamespace: "n" });
    await build({ ...input, decryption: decryptionWith() }, signal);
    const another = { ...input, decryption: decryptionWith({}, "another") };
    const says = await cachedBuild(deps)(another, signal).catch(messageOf);
    expect(says).toContain("cannot get sops data key: ");
    expect(await build(another, signal).catch(messageOf)).toBe(says);
  });

  test("is not cached if files were decrypted for it", async () => {
    const build = cachedBuild({ ...deps, engine: realEngine });
    const files = {
      "kustomization.yaml": JSON.stringify({ secretGenerator: [{ name: "g", envs: ["app.env"] }] }),
      "app.env": encrypted("app.env"),
    };
    const input = await inputOf(files, { targetNamespace: "n" });
    for (const _run of [1, 2]) {
      expect(plainOf((await build({ ...input, decryption: decryptionWith() }, signal))?.manifests)).toBe(true);
    }
    expect(input.archive).toHaveBeenCalledTimes(2);
  });

  test("does not use a cached build for names only, which contains ciphertext", async () => {
    const build = cachedBuild({ ...deps, engine: realEngine });
    const files = {
      "kustomization.yaml": JSON.stringify({ secretGenerator: [{ name: "g", files: ["blob.bin"] }] }),
      "blob.bin": encrypted("blob.bin"),
    };
    const input = await inputOf(files, { targetNamespace: "n" });
    const names = decryptionWith({ namesOnly: true, keys: failing });
    // The name of what is generated has a hash of the content.
    const [ofCiphertext] = (await build({ ...input, decryption: names }, signal))?.manifests ?? [];
    const fresh = await cachedBuild({ ...deps, engine: realEngine })(
      { ...input, decryption: decryptionWith() },
      signal,
    );
    expect(fresh?.manifests[0]?.metadata.name).not.toBe(ofCiphertext?.metadata.name);
    expect(await build({ ...input, decryption: decryptionWith() }, signal)).toEqual(fresh);
  });
});
