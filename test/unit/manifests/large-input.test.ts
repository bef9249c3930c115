import { describe, expect, test } from "vitest";
import { buildManifests } from "../../../lib/manifests/build/build.ts";
import type { PostBuild } from "../../../lib/manifests/build-spec.ts";
import { maxObjects } from "../../../lib/manifests/read-failure.ts";
import { untilDeadline } from "../../deadline.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { artifactOf, buildFiles, configMap, type Files, noEngine, owner } from "./build-files.ts";

const signal = () => untilDeadline();

async function substituted(files: Files, variables: Readonly<Record<string, string>>) {
  const postBuild: PostBuild = {
    variables: new Map(Object.entries(variables)),
    secrets: [],
    always: false,
    strict: true,
  };
  const deps = { engine: noEngine, log: silentLog };
  const { manifests } = await buildManifests(await artifactOf(files), { spec: {}, owner, postBuild }, deps, signal());
  return manifests;
}

describe("large input is built, or refused with one message", () => {
  test("an artifact of 50,000 files, of which two are manifests", async () => {
    const others = Array.from({ length: 50_000 }, (_, index) => [`docs/${index % 100}/${index}.txt`, "x"] as const);
    const files = { ...Object.fromEntries(others), "app/a.yaml": configMap("a"), "app/b.yaml": configMap("b") };
    const { manifests } = await buildFiles(files, { path: "./app" }, noEngine);
    expect(manifests.map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
  });

  test("an object of 1.4 MB", async () => {
    const text = "x".repeat(1_400_000);
    const { manifests } = await buildFiles({ "a.yaml": configMap("a", `a: ${text}`) }, {}, noEngine);
    expect(manifests[0]).toMatchObject({ data: { a: text } });
  });

  test("more objects than one Kustomization may have, in one file: refused with the number and the line", async () => {
    const text = Array.from({ length: maxObjects + 1 }, (_, index) => configMap(`c${index}`)).join("---\n");
    await expect(buildFiles({ "a.yaml": text }, {}, noEngine)).rejects.toThrow(
      `failed to decode Kubernetes YAML from a.yaml: yaml: line ${7 * maxObjects + 1}: more than 25000 objects: split them over several Kustomizations`,
    );
  });
});

describe("the value of a variable is parsed with the limits of any foreign YAML", () => {
  test("a value of 1 MB is accepted", async () => {
    const value = "x".repeat(1_000_000);
    const [manifest] = await substituted({ "a.yaml": configMap("a", "a: ${v}") }, { v: value });
    expect(manifest).toMatchObject({ data: { a: value } });
  });

  test("a value that is YAML becomes its parsed content", async () => {
    const [manifest] = await substituted({ "a.yaml": configMap("a", "a: ${v}") }, { v: "{b: [1, yes]}" });
    expect(manifest).toMatchObject({ data: { a: { b: [1, true] } } });
  });

  const failed = "post build failed for 'ConfigMap.v1.[noGrp]/a': envsubst error: YAMLToJSON:";
  test.each([
    { name: "an alias", value: "{b: &x c, d: *x}" },
    {
      name: "an alias bomb",
      value: `{${Array.from({ length: 9 }, (_, level) => `k${level}: &a${level} [${level === 0 ? "x" : `*a${level - 1}, *a${level - 1}`}]`).join(", ")}}`,
    },
    { name: "a tag that runs something", value: "!!js/function 'return 1'" },
    { name: "a tag of python", value: "!!python/object/apply:os.system [ls]" },
    { name: "a sequence that does not end", value: "[" },
  ])("$name is refused, and the message names the object and the variable", async ({ value }) => {
    await expect(substituted({ "a.yaml": configMap("a", "a: ${v}") }, { v: value })).rejects.toThrow(
      `${failed} the object with the values of v cannot be read: `,
    );
  });

  test("a broken expression names its file, object and line", async () => {
    const files = { "x.yaml": configMap("x"), "deep/a.yaml": configMap("a", "a: ${a.b}") };
    await expect(substituted(files, { a: "1" })).rejects.toThrow(
      /^post build failed for 'ConfigMap\.v1\.\[noGrp\]\/a': envsubst error: variable substitution failed: .*: \$\{a\.b\} in deep\/a\.yaml, line 6$/,
    );
  });
});
