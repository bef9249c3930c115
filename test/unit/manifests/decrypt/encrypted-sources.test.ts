import { describe, expect, test } from "vitest";
import {
  encryptedSources,
  maxKustomizationBytes,
  maxKustomizationsBytes,
  maxNames,
  SourcesFault,
  UnreadableRoot,
} from "../../../../lib/manifests/decrypt/encrypted-sources.ts";
import { atOnce } from "../../../../lib/sops/steps.ts";
import { treeFrom } from "./tree-from.ts";

function sourcesOf(files: Readonly<Record<string, string>>, folder = "", components: readonly string[] = []): string[] {
  return atOnce(encryptedSources(treeFrom(files), folder, components)).map(({ path, format }) => `${format} ${path}`);
}

const generators = (fields: object) => JSON.stringify({ secretGenerator: [{ name: "s", ...fields }] });

describe("the files that are decrypted before the build", () => {
  test("include those of Secret generators: in the format of the key, an env file as dotenv unless its name says otherwise (63)", () => {
    const fields = {
      files: ["blob.bin", "config.yaml=config.enc", ".dockerconfigjson=pull.txt", "a.json", "b.ini", "c.yml"],
      envs: ["app.env", "vars.txt", "vars.yaml", "vars.json", "vars.ini"],
    };
    expect(sourcesOf({ "kustomization.yaml": generators(fields) })).toEqual([
      "binary blob.bin",
      "yaml config.enc",
      "json pull.txt",
      "json a.json",
      "ini b.ini",
      "yaml c.yml",
      "dotenv app.env",
      "dotenv vars.txt",
      "yaml vars.yaml",
      "json vars.json",
      "ini vars.ini",
    ]);
  });

  test("include patches that are files, and no URL (64)", () => {
    const patches = [{ path: "p.yaml" }, { path: "https://example.test/p.yaml" }, { patch: "x" }, { path: "p.json" }];
    expect(sourcesOf({ "kustomization.yaml": JSON.stringify({ patches }) })).toEqual(["yaml p.yaml", "json p.json"]);
  });

  test("exclude those of ConfigMap generators, of deprecated patches or of resources", () => {
    const kustomization = {
      resources: ["secret.yaml"],
      configMapGenerator: [{ name: "c", files: ["a.yaml"], envs: ["a.env"] }],
      patchesStrategicMerge: ["p.yaml"],
      patchesJson6902: [{ path: "p.json" }],
    };
    const files = { "kustomization.yaml": JSON.stringify(kustomization), "secret.yaml": "" };
    expect(sourcesOf(files)).toEqual([]);
  });

  test("include those of local folders in resources and components, each folder once, and never leave the artifact", () => {
    const files = {
      "apps/web/kustomization.yaml": JSON.stringify({
        resources: ["../../base", "/apps/base", "https://example.test/x", "missing", "x.yaml", "../../../../base"],
        components: ["../part"],
      }),
      "apps/web/x.yaml": "",
      "apps/base/kustomization.yml": generators({ files: ["../../../../../keys.txt"] }),
      "apps/part/Kustomization": JSON.stringify({ patches: [{ path: "p.yaml" }], resources: ["../web"] }),
      "base/kustomization.yaml": generators({ envs: ["/base/a.env", "a.env"] }),
    };
    expect(sourcesOf(files, "apps/web")).toEqual(["dotenv base/a.env", "binary keys.txt", "yaml apps/part/p.yaml"]);
  });

  test("include those of subfolders with a kustomization file if the built folder has none", () => {
    const files = {
      "a/plain.yaml": "",
      "a/one/kustomization.yaml": generators({ envs: ["one.env"] }),
      "a/one/inner/kustomization.yaml": generators({ envs: ["inner.env"] }),
      "a/deep/two/Kustomization": generators({ envs: ["two.env"] }),
      "b/kustomization.yaml": generators({ envs: ["b.env"] }),
    };
    expect(sourcesOf(files, "a")).toEqual(["dotenv a/deep/two/two.env", "dotenv a/one/one.env"]);
  });

  test("include those of the spec's components", () => {
    const files = {
      "app/kustomization.yaml": "resources: []",
      "part/kustomization.yaml": generators({ envs: ["a.env"] }),
    };
    expect(sourcesOf(files, "app", ["../part", "../none"])).toEqual(["dotenv part/a.env"]);
  });

  test("a file that is named twice has the format of its first name", () => {
    const fields = { files: ["x.yaml=vars", "y.json=vars"], envs: ["vars"] };
    expect(sourcesOf({ "kustomization.yaml": generators(fields) })).toEqual(["yaml vars"]);
  });

  test("are found by Go's rules for a kustomization: keys in any letter case, merge keys, the last of two entries", () => {
    const text =
      "SecretGenerator: [{name: a, Envs: [old]}]\nsecretGenerator:\n- &x\n  envs: [a.env]\n- <<: *x\n  files: [f]\n";
    expect(sourcesOf({ "kustomization.yaml": text })).toEqual(["dotenv a.env", "binary f"]);
  });

  test.each([
    { text: "", what: "nothing" },
    { text: "null", what: "null" },
    { text: '{"secretGenerator": {"files": ["x"]}, "patches": "x", "resources": [1, null, {}]}', what: "odd shapes" },
  ])("a kustomization of $what names none", ({ text }) => {
    expect(sourcesOf({ "kustomization.yaml": text })).toEqual([]);
  });

  test.each([
    { files: { "sub/x.yaml": "" }, says: "no kustomization file found in 'sub'" },
    {
      files: { "sub/kustomization.yaml": "", "sub/Kustomization": "" },
      says: "found multiple kustomization files in 'sub'",
    },
    {
      files: { "sub/kustomization.yaml": "a: [" },
      says: "failed to unmarshal kustomization file from 'sub/kustomization.yaml': ",
    },
    { files: { "sub/kustomization.yaml": "- a" }, says: "'sub/kustomization.yaml': it is not a mapping" },
    {
      files: { "sub/kustomization.yaml": `a: ${"[".repeat(101)}${"]".repeat(101)}` },
      says: "failed to unmarshal kustomization file from 'sub/kustomization.yaml': ",
    },
    {
      files: {
        "sub/kustomization.yaml": `a: &a [${"xxxxxxxxxxxx, ".repeat(1000)}]\nb: &b [${"*a, ".repeat(100)}]\nc: [${"*b, ".repeat(100)}]`,
      },
      says: "its aliases expand to more than",
    },
  ])("a resource folder that cannot be read is refused: $says", ({ files, says }) => {
    const root = { "kustomization.yaml": "resources: [sub]" };
    expect(() => sourcesOf({ ...root, ...files })).toThrow(SourcesFault);
    expect(() => sourcesOf({ ...root, ...files })).toThrow(says);
    expect(() => sourcesOf({ ...root, ...files })).not.toThrow(UnreadableRoot);
  });

  test("an unreadable file of the built folder itself is distinguished, because the engine reports more about it", () => {
    expect(() => sourcesOf({ "kustomization.yaml": "a: [" })).toThrow(UnreadableRoot);
    expect(() => sourcesOf({ "kustomization.yaml": "", Kustomization: "" })).not.toThrow(UnreadableRoot);
  });

  test("of nested folders with a kustomization file, only the outermost are used", () => {
    const levels = Array.from({ length: 5 }, (_, at) => `${"a/".repeat(at + 1)}`);
    const files = Object.fromEntries(
      [...levels, "b/", "ab/"].map((folder) => [`${folder}kustomization.yaml`, generators({ files: ["s.env"] })]),
    );
    expect(sourcesOf(files)).toEqual(["dotenv a/s.env", "dotenv ab/s.env", "dotenv b/s.env"]);
  });

  test("a long chain of folders that each name the next works at any length", () => {
    const count = 20_000;
    const link = (at: number) => [`${at}/kustomization.yaml`, `resources: [../${at + 1}]`] as const;
    const files = Object.fromEntries(Array.from({ length: count }, (_, at) => link(at)));
    const last = { [`${count}/kustomization.yaml`]: generators({ files: ["s.env"] }) };
    expect(sourcesOf({ ...files, ...last }, "0")).toEqual([`dotenv ${count}/s.env`]);
  });

  test("a kustomization file may have as many bytes as the limit, and all together as theirs, and no more", () => {
    const count = maxKustomizationsBytes / maxKustomizationBytes - 1;
    const names = Array.from({ length: count }, (_, at) => `s${at}`);
    const full = (text: string, more = 0) => text.padEnd(maxKustomizationBytes + more, "x");
    const files = (more: number) => ({
      "kustomization.yaml": full(`resources: [${names.join(", ")}]\n#`),
      ...Object.fromEntries(names.map((name) => [`${name}/kustomization.yaml`, full("a: b\n#")])),
      "s0/kustomization.yaml": full("a: b\n#", more),
    });
    expect(sourcesOf(files(0))).toEqual([]);
    expect(() => sourcesOf(files(1))).toThrow(`'s0/kustomization.yaml' has more than ${maxKustomizationBytes} bytes`);
    const last = { [`s${count - 1}/kustomization.yaml`]: full("resources: [../t]\n#"), "t/kustomization.yaml": "" };
    expect(sourcesOf({ ...files(0), ...last })).toEqual([]);
    expect(() => sourcesOf({ ...files(0), ...last, "t/kustomization.yaml": "#" })).toThrow(
      `the kustomization files have more than ${maxKustomizationsBytes} bytes`,
    );
  });

  test("may be as many as the limit, and no more, whatever an alias stands for", () => {
    const list = `a: &a [${"b,".repeat(1_000)}]\nsecretGenerator:\n`;
    const files = (lists: number, more: string) => ({
      "kustomization.yaml": `${list}${"- files: *a\n".repeat(lists)}${more}`,
    });
    const lists = maxNames / 1_000;
    expect(sourcesOf(files(lists, ""))).toEqual(["binary b"]);
    expect(() => sourcesOf(files(lists, "- files: [c]\n"))).toThrow(
      `the kustomization files name more than ${maxNames} files`,
    );
  });
});
