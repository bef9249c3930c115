import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Failure } from "../../../../lib/core/failure.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import type { Manifest } from "../../../../lib/core/manifest.ts";
import { buildEncrypted } from "../../../../lib/manifests/build/build-encrypted.ts";
import type { BuildInput } from "../../../../lib/manifests/build/build-input.ts";
import { maxEncryptedFileBytes } from "../../../../lib/manifests/decrypt/decrypt-sources.ts";
import { encryptedSecret } from "../../../../lib/manifests/decrypt/guard.ts";
import { dataKeys } from "../../../../lib/sops/data-key.ts";
import { silentLog } from "../../../doubles/silent-log.ts";
import { canary } from "../../../e2e/canary.ts";
import { encrypted as encryptedValue, macOf, plainKeys, sopsOf } from "../../sops/encrypt.ts";
import { artifactOf, configMap, type Files, noEngine, owner, realEngine } from "../build-files.ts";
import { decryptionWith, encrypted, plain } from "./encrypted-files.ts";

const { signal } = new AbortController();
const base64 = (content: string | Uint8Array): string => Buffer.from(content).toString("base64");
const kustomization = (fields: object): Files => ({ "kustomization.yaml": JSON.stringify(fields) });
const fixed = { generatorOptions: { disableNameSuffixHash: true } };
const secret = (fields: object): string =>
  JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "n" }, ...fields });
const plainSecret = { apiVersion: "v1", kind: "Secret", stringData: { other: "x" } };

/** @param inProcess whether the engine must not be asked */
async function build(files: Files, input: Partial<BuildInput> = {}, inProcess = false) {
  const deps = { engine: inProcess ? noEngine : realEngine, log: silentLog };
  const spec = { targetNamespace: "n", ...input.spec };
  const { decryption = decryptionWith(), ...rest } = { owner, ...input, spec };
  const { built } = await buildEncrypted(await artifactOf(files), { ...rest, decryption }, deps, signal);
  return built;
}

async function failureOf(files: Files, input: Partial<BuildInput> = {}): Promise<string> {
  const end = await build(files, input).catch((error: unknown) => error);
  if (!(end instanceof Failure)) throw new Error("the build did not fail as it should");
  expect(end.reason).toBe("BuildFailed");
  expect(end.message).not.toContain("c4n4ry");
  expect(end.message).not.toContain("ENC[");
  return end.message;
}

function dataOf(manifests: readonly Manifest[], name: string): unknown {
  return manifests.find(({ metadata }) => metadata.name === name)?.["data"];
}

describe("a build with decryption", () => {
  test("decrypts objects that were built in process, and objects that the engine has built", async () => {
    const files = { "data.yaml": encrypted("data.yaml"), "age.yaml": encrypted("age.yaml") };
    const inProcess = await build(files, {}, true);
    expect(dataOf(inProcess.manifests, "data")).toEqual({ user: base64("admin"), key: base64(canary) });
    expect(dataOf(inProcess.manifests, "age")).toEqual({ key: base64(canary) });
    const byEngine = await build({ ...files, ...kustomization({ resources: ["data.yaml", "age.yaml"] }) });
    expect(byEngine.manifests.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))).toEqual(
      inProcess.manifests,
    );
    expect(JSON.stringify(inProcess.manifests)).not.toContain("sops");
  });

  test("shows its digest only keyed by the installation, and no value in a text, whatever kind was encrypted", async () => {
    const { carriesSecret, secrets, digest } = await build({ "settings.yaml": encrypted("settings.yaml") });
    expect(carriesSecret).toBe(true);
    expect(secrets).toContain(canary);
    const another = await build({ "settings.yaml": encrypted("settings.yaml") });
    expect(another.digest).toBe(digest);
    const { carriesSecret: ofNothing } = await build({ "a.yaml": configMap("a") });
    expect(ofNothing).toBe(true);
  });

  test("gives generators and patches plain files, and the same file to a ConfigMap generator (63, 64)", async () => {
    const files = {
      ...kustomization({
        ...fixed,
        resources: ["target.yaml"],
        secretGenerator: [
          { name: "g", envs: ["app.env"], files: ["blob.bin", "a.ini=config.ini", "b.yaml=config.yaml"] },
        ],
        configMapGenerator: [{ name: "c", envs: ["app.env"], files: ["unshared.yaml"] }],
        patches: [{ path: "patch.yaml" }],
      }),
      "app.env": encrypted("app.env"),
      "blob.bin": encrypted("blob.bin"),
      "config.ini": encrypted("config.ini"),
      "config.yaml": encrypted("config.yaml"),
      "unshared.yaml": encrypted("config.yaml"),
      "patch.yaml": encrypted("patch.yaml"),
      "target.yaml": JSON.stringify({ ...plainSecret, metadata: { name: "patched" } }),
    };
    const { manifests, secrets } = await build(files);
    expect(dataOf(manifests, "g")).toMatchObject({
      key: base64(canary),
      other: base64("two words"),
      "blob.bin": base64(plain("blob.bin")),
    });
    // Flux does not decrypt what a ConfigMap generator alone reads.
    expect(dataOf(manifests, "c")).toEqual({
      key: canary,
      other: "two words",
      "unshared.yaml": encrypted("config.yaml").toString(),
    });
    expect(dataOf(manifests, "patched")).toEqual({ key: base64(canary), other: base64("x") });
    expect(secrets).toEqual(expect.arrayContaining([canary, "two words", plain("blob.bin").toString().trim()]));
  });

  test("decrypts SOPS files in the data of a Secret, in the format of the key's name (65)", async () => {
    const data = {
      ".dockerconfigjson": base64(encrypted("pull.json")),
      "config.yaml": base64(encrypted("config.yaml")),
      "blob.bin": base64(encrypted("blob.bin")),
      "plain.txt": base64("plain"),
      odd: "no base64!",
    };
    const { manifests } = await build({ "s.yaml": secret({ data }) }, {}, true);
    const found = z.record(z.string(), z.string()).parse(dataOf(manifests, "s"));
    const text = (key: string) => Buffer.from(found[key] ?? "", "base64").toString();
    expect(JSON.parse(text(".dockerconfigjson"))).toEqual(JSON.parse(plain("pull.json").toString()));
    expect(text("config.yaml")).toContain(`key: ${canary}\n`);
    expect(found["blob.bin"]).toBe(base64(plain("blob.bin")));
    expect(found).toMatchObject({ "plain.txt": base64("plain"), odd: "no base64!" });
  });

  test("decrypts no such values of other kinds, and nothing that opts out (67)", async () => {
    const data = { "config.yaml": encrypted("config.yaml").toString() };
    const annotations = { "kustomize.toolkit.fluxcd.io/decrypt": "DISABLED" };
    const out = { apiVersion: "v1", kind: "Secret", metadata: { name: "out", namespace: "n", annotations } };
    const kept = { "config.yaml": base64(encrypted("config.yaml")) };
    const { manifests } = await build({
      "c.yaml": JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data }),
      "out.yaml": JSON.stringify({ ...out, data: kept }),
    });
    expect(dataOf(manifests, "c")).toEqual(data);
    expect(dataOf(manifests, "out")).toEqual(kept);
  });

  test("substitutes after decryption", async () => {
    const postBuild = { variables: new Map([["who", "world"]]), secrets: [], always: false, strict: true };
    const { manifests } = await build({ "a.yaml": encrypted("greeting.yaml") }, { postBuild });
    expect(dataOf(manifests, "template")).toEqual({ key: canary, greeting: "hello world" });
    const says = await failureOf({ "a.yaml": encrypted("template.yaml") }, { postBuild });
    expect(says).toContain("post build failed for 'ConfigMap.v1.[noGrp]/template'");
  });

  test("decrypts a file that was encrypted twice if a generator reads it, and refuses one that was encrypted three times", async () => {
    const generator = kustomization({ ...fixed, secretGenerator: [{ name: "g", files: ["blob.bin"] }] });
    const { manifests } = await build({ ...generator, "blob.bin": encrypted("twice.bin") });
    expect(dataOf(manifests, "g")).toEqual({ "blob.bin": base64(plain("blob.bin")) });
    expect(await failureOf({ ...generator, "blob.bin": encrypted("thrice.bin") })).toBe(
      "decryption failed for 'Secret.v1.[noGrp]/g': failed to decrypt and format 'n/g' Secret field 'blob.bin': it is SOPS encrypted twice: encrypt the plain file once",
    );
  });

  test("refuses a Secret with single SOPS values, which a generator made from an undecrypted file", async () => {
    const data = { a: base64("x"), password: base64(valueOf("app.env")) };
    const says = await failureOf({ "s.yaml": secret({ data }) });
    expect(says).toContain(
      "'n/s' Secret field 'password': it is a value that sops has encrypted, without the metadata",
    );
    expect(await failureOf({ "s.yaml": secret({ stringData: { pw: valueOf("app.env") } }) })).toContain("field 'pw'");
  });

  test("leaves a Secret without a MAC to the check before the plan, which names it with Flux's text", async () => {
    const text = secret({ data: { a: base64(valueOf("app.env")) }, sops: { version: "3.13.2" } });
    const { manifests } = await build({ "s.yaml": text });
    expect(encryptedSecret(manifests)).toBe(
      "Secret/n/s is SOPS encrypted, configuring decryption is required for this secret to be reconciled",
    );
  });

  test("refuses an object that was encrypted twice, with a mend", async () => {
    const inner = encryptedValue("x", "stringData:a:");
    const sops = sopsOf(macOf("v1", "Secret", "s", "n", inner), { encrypted_regex: "^stringData$" });
    const text = secret({ stringData: { a: encryptedValue(inner, "stringData:a:") }, sops });
    const decryption = decryptionWith({ keys: async () => dataKeys([plainKeys]) });
    expect(await failureOf({ "s.yaml": text }, { decryption })).toContain(
      "'n/s' Secret data: it is SOPS encrypted twice: encrypt the plain file once",
    );
  });

  test("refuses a partly encrypted file, with the field and a mend", async () => {
    const text = encrypted("data.yaml").toString();
    const [head = ""] = text.split(/^sops:\n/m);
    expect(await failureOf({ "a.yaml": head })).toMatch(
      /'n\/data' Secret field '\w+': it is a value that sops has encrypted, without the metadata .*encrypt it again$/,
    );
    const opened = text.replace(/^( {4}user: ).*$/m, `$1${base64("admin")}`);
    expect(await failureOf({ "a.yaml": opened })).toContain(
      "'data.user' is not encrypted. Restore the file, and change it with sops edit (a.yaml)",
    );
    const added = text.replace(/^( {4}user: .*)$/m, "$1\n    more: 5");
    expect(await failureOf({ "a.yaml": added })).toContain("but got int: 'data.more' is not encrypted.");
    const changed = text.replace("app: web", "app: other");
    expect(await failureOf({ "a.yaml": changed })).toContain(
      "MAC mismatch (a.yaml): a field was changed, added or removed after the encryption. Restore the file, and change it with sops edit",
    );
  });

  test("reads the keys even if nothing is encrypted, and names objects that no key decrypts", async () => {
    const keys = () => Promise.reject(new Failure("BuildFailed", 'secrets "sops" not found'));
    expect(await failureOf({ "a.yaml": configMap("a") }, { decryption: decryptionWith({ keys }) })).toBe(
      'secrets "sops" not found',
    );
    const decryption = decryptionWith({}, "another");
    expect(await failureOf({ "a.yaml": encrypted("data.yaml") }, { decryption })).toContain(
      "decryption failed for 'Secret.v1.[noGrp]/data': failed to decrypt and format 'n/data' Secret data: cannot get sops data key: ",
    );
    const generator = kustomization({ secretGenerator: [{ name: "g", envs: ["app.env"] }] });
    expect(await failureOf({ ...generator, "app.env": encrypted("app.env") }, { decryption })).toContain(
      "error decrypting sources: cannot get sops data key: ",
    );
  });
});

/** The first encrypted value of a file. */
function valueOf(file: string): string {
  return /ENC\[[^\]]*\]/.exec(encrypted(file).toString())?.[0] ?? "";
}

describe("a file in a generator or patch", () => {
  const envs = (name: string): Files => kustomization({ ...fixed, secretGenerator: [{ name: "g", envs: [name] }] });

  test.each([
    { files: envs("none.env"), says: "error decrypting sources: lstat none.env: no such file or directory" },
    {
      files: { ...envs("folder"), "folder/a.yaml": configMap("a") },
      says: "error decrypting sources: cannot decrypt irregular file as it has file mode type bits set",
    },
    {
      files: { ...envs("large.env"), "large.env": "a".repeat(maxEncryptedFileBytes + 1) },
      says: "error decrypting sources: cannot decrypt file with size (5242881 bytes) exceeding limit (5242880)",
    },
    {
      files: { ...kustomization({ resources: ["sub"] }), "sub/a.yaml": configMap("a") },
      says: "error decrypting sources: no kustomization file found in 'sub'",
    },
    {
      files: { ...envs("app.env"), "app.env": Buffer.concat([encrypted("app.env"), Buffer.from("more=1\n")]) },
      says: "error decrypting sources: ",
    },
  ])("is refused with Flux's text: $says", async ({ files, says }) => {
    expect(await failureOf(files)).toContain(says);
  });

  test("is not quoted if it looks like a literal", async () => {
    expect(await failureOf(envs(`PASSWORD=${canary}`))).toBe(
      "error decrypting sources: lstat *****: no such file or directory",
    );
  });

  test("may be unencrypted", async () => {
    const { manifests } = await build({ ...envs("app.env"), "app.env": "a=b\n" });
    expect(dataOf(manifests, "g")).toEqual({ a: base64("b") });
  });

  test("is searched only if the kustomization can be parsed; otherwise the engine reports the error", async () => {
    expect(await failureOf({ "kustomization.yaml": "secretGenerator: [" })).not.toContain("decrypting sources");
  });
});

describe("the MAC of an object", () => {
  const data = () => encrypted("data.yaml").toString();

  test("is verified over its file, and fields that the build changes do not matter", async () => {
    const patches = [
      { patch: '[{"op": "add", "path": "/metadata/labels/b", "value": "c"}]', target: { kind: "Secret" } },
    ];
    const { manifests } = await build({ "data.yaml": data() }, { spec: { namePrefix: "x-", patches } });
    expect(manifests[0]?.metadata).toMatchObject({ name: "x-data", labels: { app: "web", b: "c" } });
  });

  test.each([
    { what: "a field is changed", change: (text: string) => text.replace("app: web", "app: other") },
    { what: "a field is added", change: (text: string) => text.replace("app: web", "app: web\n        b: c") },
    { what: "a value is left out", change: (text: string) => text.replace(/ {4}user: .*\n/, "") },
  ])("does not match if $what", async ({ change }) => {
    const files = { "data.yaml": change(data()) };
    expect(await failureOf(files)).toContain(
      "'n/data' Secret data: failed to verify sops data integrity: MAC mismatch (data.yaml)",
    );
    const { manifests } = await build(files, { decryption: decryptionWith({ ignoreMac: true }) });
    expect(dataOf(manifests, "data")).toMatchObject({ key: base64(canary) });
  });

  test("is verified over every file that has it, so that an unchanged copy does not prove a changed one", async () => {
    const files = {
      ...kustomization({ resources: ["changed.yaml"] }),
      "a/data.yaml": data(),
      "changed.yaml": data().replace("app: web", "app: other"),
    };
    expect(await failureOf(files)).toContain("MAC mismatch (changed.yaml)");
  });

  test.each([
    { what: "its key with an escape", write: (text: string) => text.replace(/^( +)mac:/m, '$1"m\\x61c":') },
    { what: "a tag", write: (text: string) => text.replace(/^( +)mac: /m, "$1mac: !!str ") },
    { what: "an anchor", write: (text: string) => text.replace(/^( +)mac: /m, "$1mac: &a ") },
    { what: "a comment between", write: (text: string) => text.replace(/^( +)mac: /m, "$1mac: # a\n$1  ") },
    { what: "an escape", write: (text: string) => text.replace(/^( +)mac: EN(.*)/m, '$1mac: "E\\x4e$2"') },
    { what: "a line break", write: (text: string) => text.replace(/^( +)mac: EN(.*)/m, '$1mac: "EN\\\n$1  $2"') },
    {
      what: "base64",
      write: (text: string) =>
        text.replace(/^( +)mac: (.*)/m, (_, at: string, mac: string) => `${at}mac: !!binary ${base64(mac)}`),
    },
  ])("is verified over a changed file that writes it with $what, next to the original", async ({ write }) => {
    const changed = write(data().replace(/ {4}user: .*\n/, ""));
    expect(changed).not.toMatch(/^ +mac: ENC/m);
    const files = { "app/data.yaml": changed, "kept/data.yaml": data() };
    expect(await failureOf(files, { spec: { path: "app" } })).toContain("(app/data.yaml)");
  });

  test("is verified over all documents of a file", async () => {
    const text = encrypted("settings.yaml").toString();
    expect((await build({ "settings.yaml": text })).manifests).toHaveLength(2);
    const [first = ""] = text.split(/^---\n/m);
    expect(await failureOf({ "settings.yaml": first })).toContain("MAC mismatch (settings.yaml)");
  });

  test("is verified in parts if several encrypted files were joined into one", async () => {
    const both = `${data()}---\n${encrypted("age.yaml").toString()}`;
    expect((await build({ "both.yaml": both })).manifests).toHaveLength(2);
    expect(await failureOf({ "both.yaml": both.replace("name: age", "name: other") })).toContain(
      "MAC mismatch (both.yaml)",
    );
  });

  test("that no file has is refused, with a mend", async () => {
    const patch = JSON.stringify({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "data" },
      sops: { mac: valueOf("age.yaml") },
    });
    const says = await failureOf({ "data.yaml": data() }, { spec: { patches: [{ patch }] } });
    expect(says).toContain(
      "its mac is in no file of the artifact: commit the file as sops wrote it, or set sops-ignore-mac",
    );
  });
});

describe("a build for only the names of its objects", () => {
  const namesOnly = decryptionWith({ namesOnly: true });
  const noKeys = decryptionWith({
    namesOnly: true,
    keys: () => Promise.reject(new Failure("BuildFailed", 'secrets "sops" not found')),
  });
  const generator = {
    ...kustomization({ secretGenerator: [{ name: "g", envs: ["app.env"] }] }),
    "app.env": encrypted("app.env"),
  };
  const named = (manifests: readonly Manifest[]) => manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);

  test("decrypts nothing that no name depends on, so that changed files and missing keys do not matter", async () => {
    const files = { "data.yaml": encrypted("data.yaml").toString().replace("app: web", "app: other") };
    for (const decryption of [namesOnly, noKeys]) {
      const { manifests } = await build(files, { decryption });
      expect(named(manifests)).toEqual(["Secret/data"]);
      expect(JSON.stringify(manifests)).not.toContain(base64(canary));
    }
  });

  test("decrypts files that a generator's name depends on, and continues without", async () => {
    const [real] = named((await build(generator)).manifests);
    expect(named((await build(generator, { decryption: namesOnly })).manifests)).toEqual([real]);
    const [without] = named((await build(generator, { decryption: noKeys })).manifests);
    expect(without).toMatch(/^Secret\/g-/);
    expect(without).not.toBe(real);
  });

  test.each([
    ["kind", "kind:", "ConfigMap"],
    ["name", "metadata:name:", "a"],
    ["namespace", "metadata:namespace:", "own"],
  ])("decrypts an object whose %s is encrypted", async (field, path, value) => {
    const hidden = (own: string, wanted: string) => (own === field ? encryptedValue(value, path) : wanted);
    const metadata = { name: hidden("name", "a"), namespace: hidden("namespace", "own") };
    const object = { apiVersion: "v1", kind: hidden("kind", "ConfigMap"), metadata };
    const sops = sopsOf(macOf("any"), { encrypted_regex: `^${field}$` });
    const decryption = decryptionWith({ namesOnly: true, keys: async () => dataKeys([plainKeys]) });
    const files = { "a.json.yaml": JSON.stringify({ ...object, sops }) };
    const { manifests } = await build(files, { decryption, spec: { targetNamespace: "" } });
    expect(manifests.map(({ kind, metadata: { name, namespace } }) => [kind, namespace, name])).toEqual([
      ["ConfigMap", "own", "a"],
    ]);
  });

  test("decrypts the whole object if its name is encrypted", async () => {
    const files = { "whole.yaml": encrypted("whole.yaml") };
    const without: JsonObject = { targetNamespace: "" };
    const { manifests } = await build(files, { decryption: namesOnly, spec: without });
    expect(named(manifests)).toEqual(["Secret/whole"]);
    expect(dataOf((await build(files, { spec: without })).manifests, "whole")).toEqual({ key: base64(canary) });
  });
});
