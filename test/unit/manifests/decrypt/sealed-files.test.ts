import { describe, expect, test } from "vitest";
import { macVerifier, sealedFiles } from "../../../../lib/manifests/decrypt/sealed-files.ts";
import { maxQuoting } from "../../../../lib/manifests/sealed/quoted-mac.ts";
import { dataKeys } from "../../../../lib/sops/data-key.ts";
import { encrypted, macOf as macOfValues, plainKeys, sopsOf } from "../../sops/encrypt.ts";

const { signal } = new AbortController();
const macOf = (at: number): string => `ENC[AES256_GCM,data:${String(at).padStart(8, "A")},iv:AAAA,tag:AAAA,type:str]`;
const documentOf = (at: number): string => `---\na: ${"x".repeat(200)}\nsops:\n  mac: ${macOf(at)}\n`;

// Took more than ten minutes while the file was split anew for each MAC.
test("a file of many encrypted documents is split once", async () => {
  const count = 20_000;
  const numbers = Array.from({ length: count }, (_, at) => at);
  const files = new Map([["a.yaml", Buffer.from(numbers.map(documentOf).join(""))]]);
  const sealed = await sealedFiles({ files }, new Set(numbers.map(macOf)), signal);
  expect(sealed.size).toBe(count);
  const [last] = sealed.get(macOf(count - 1)) ?? [];
  expect(Buffer.from(last?.bytes ?? []).toString()).toBe(documentOf(count - 1));
});

test("a text like a document marker after an unusual line break does not end the document", async () => {
  const text = `${documentOf(1)}  z: |\n    x\u2028--- y\nadded: b\n${documentOf(2)}`;
  const files = new Map([["a.yaml", Buffer.from(text)]]);
  const sealed = await sealedFiles({ files }, new Set([macOf(1)]), signal);
  const [only] = sealed.get(macOf(1)) ?? [];
  expect(Buffer.from(only?.bytes ?? []).toString()).toContain("added: b");
});

test("a MAC in a UTF-16 file is found", async () => {
  const bytes = Buffer.from(`\ufeff${documentOf(1)}`, "utf16le");
  const sealed = await sealedFiles({ files: new Map([["a.yaml", bytes]]) }, new Set([macOf(1)]), signal);
  expect([...sealed.keys()]).toEqual([macOf(1)]);
});

test("a large file is searched like a small one, and the process keeps doing other work", async () => {
  const text = `${documentOf(1)}${`# ${"x".repeat(1_000)}\n`.repeat(2_000)}${documentOf(2)}`;
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const sealed = await sealedFiles(
    { files: new Map([["a.yaml", Buffer.from(text)]]) },
    new Set([macOf(1), macOf(2)]),
    signal,
  );
  clearInterval(timer);
  expect([...sealed.keys()]).toEqual([macOf(1), macOf(2)]);
  const [only] = sealed.get(macOf(2)) ?? [];
  expect(Buffer.from(only?.bytes ?? []).toString()).toBe(documentOf(2));
  expect(turns).toBeGreaterThan(0);
});

describe("the MAC of an object", () => {
  const mac = macOfValues("v1", "Secret", "1");
  const object = { apiVersion: "v1", kind: "Secret", data: { a: encrypted("1", "data:a:") } };
  const real = JSON.stringify({ ...object, sops: sopsOf(mac, { encrypted_regex: "^data$" }) });
  const changed = { ...object, data: {} };
  const metadata = (key: string): string => JSON.stringify(sopsOf(mac)).replace('"mac"', key);

  /** Why the MAC is not verified; an empty text if it is. */
  async function faultOf(files: Readonly<Record<string, string>>): Promise<string> {
    const tree = { files: new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)])) };
    const sealed = await sealedFiles(tree, new Set([mac]), signal);
    const verify = macVerifier(sealed, dataKeys([plainKeys]), signal);
    return verify(mac).then(
      () => "",
      (error: unknown) => (error instanceof Error ? error.message : "no error"),
    );
  }

  test("is not verified by a file that has its own valid MAC and contains the object too", async () => {
    const list = { apiVersion: "v1", kind: "List", items: [{ kind: "Secret", sops: { mac } }] };
    const own = macOfValues("v1", "List", "Secret", mac);
    const file = JSON.stringify({ ...list, sops: sopsOf(own, { encrypted_regex: "^none$" }) });
    expect(await faultOf({ "real.json": real })).toBe("");
    expect(await faultOf({ "real.json": real, "list.json": file })).toContain("its mac is of another file (list.json)");
  });

  const configMap = (data: object): string => JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", data });

  test.each([
    { path: "README.md", text: `# Secrets\n\n\`\`\`json\n${real}\n\`\`\`\n` },
    { path: "notes", text: `our mac is ${mac}\n` },
    { path: "config.yaml", text: configMap({ "README.md": `sops:\n  mac: ${mac}\n` }) },
    { path: "config.yaml", text: configMap({ mac }) },
    { path: "comment.yaml", text: `# mac: ${mac}\n${configMap({})}` },
    {
      path: "encrypted.json",
      text: JSON.stringify({
        mac,
        sops: sopsOf(macOfValues(mac), { encrypted_regex: "^none$" }),
      }),
    },
  ])("needs no proof for a file that only quotes it: $path, $text", async ({ path, text }) => {
    expect(await faultOf({ "real.json": real, [path]: text })).toBe("");
    // The object came from somewhere: there has to be a file that is verified.
    expect(await faultOf({ [path]: text })).toContain("its mac is in no file of the artifact");
    expect(await faultOf({ "real.json": real.replace(object.data.a, ""), [path]: text })).toContain("real.json");
  });

  test("needs no proof for a text that a generator reads", async () => {
    const kustomization = JSON.stringify({ configMapGenerator: [{ name: "a", files: ["README.md"] }] });
    const files = { "real.json": real, "README.md": `- ${mac}\n`, "kustomization.yaml": kustomization };
    expect(await faultOf(files)).toBe("");
  });

  test.each([
    { what: "unchanged", path: "a.yaml", text: JSON.stringify({ ...changed, sops: { mac } }) },
    { what: "in a list", path: "a.yaml", text: `items: [${JSON.stringify({ ...changed, sops: { mac } })}]` },
    { what: "behind an alias", path: "a.yaml", text: `kind: Secret\na: &a ${metadata('"mac"')}\nsops: *a\n` },
    { what: "behind an alias of its value", path: "a.yaml", text: `a: &a "${mac}"\nsops: {mac: *a}\n` },
    { what: "merged", path: "a.yaml", text: `a: &a ${metadata('"mac"')}\nsops:\n  <<: *a\n` },
    { what: "merged with others", path: "a.yaml", text: `a: &a ${metadata('"mac"')}\nsops:\n  <<: [{}, *a]\n` },
    { what: "with escapes in its key", path: "a.yaml", text: `"s\\x6fps": ${metadata('"m\\u0061c"')}\n` },
    { what: "with a key in base64", path: "a.yaml", text: `!!binary c29wcw==: ${metadata("!!binary bWFj ")}\n` },
    { what: "with its own tags", path: "a.yaml", text: `%TAG !e! tag:yaml.org,2002:\n---\n# ${mac}\nb: c\n` },
    { what: "with whole tags", path: "a.yaml", text: `!<tag:yaml.org,2002:binary> c29wcw==: {}\n# ${mac}\n` },
    { what: "behind a break that ends a comment for others", path: "a.yaml", text: `# \u2028sops: {mac: "${mac}"}\n` },
    { what: "behind a mark that others skip", path: "a.yaml", text: `a: b\n\ufeffsops: {mac: "${mac}"}\n` },
    { what: "in a form that cannot be read", path: "a.yaml", text: `sops: {mac: "${mac}"}\nsops: [\n` },
    {
      what: "in a transformer",
      path: "a.yaml",
      text: `apiVersion: builtin\nkind: PatchTransformer\npatch: '${mac}'\n`,
    },
    { what: "in a JSON patch", path: "a.yaml", text: `[{op: add, path: /sops/mac, value: "${mac}"}]\n` },
    { what: "in a patch of the kustomization", path: "kustomization.yaml", text: `patches: [{patch: "${mac}"}]\n` },
  ])("is verified over every file that may contain the object: $what", async ({ path, text }) => {
    expect(await faultOf({ "real.json": real, [path]: text })).toContain(`(${path}`);
  });

  test.each([
    { what: "names", kustomization: "resources: [b/../README.md]" },
    { what: "names in another case", kustomization: "ReSources: [README.md]" },
    { what: "may name", kustomization: "resources: [" },
    { what: "with its own transformers may name", kustomization: "transformers: [t.yaml]" },
    { what: "with replacements may read", kustomization: "replacements: []" },
    { what: "too long to be searched may name", kustomization: `# ${"x".repeat(maxQuoting)}` },
  ])("is verified over a file of any name that a kustomization $what", async ({ kustomization }) => {
    const files = { "real.json": real, "README.md": `\u2028${mac}`, "app/Kustomization": kustomization };
    expect(await faultOf(files)).toContain("(README.md");
  });

  test("needs no proof for a text that only quotes it if the text is short enough to be parsed at once", async () => {
    const text = configMap({ mac });
    const quoting = (length: number) => faultOf({ "real.json": real, "a.yaml": text.padEnd(length) });
    expect(await quoting(maxQuoting)).toBe("");
    expect(await quoting(maxQuoting + 1)).toContain("(a.yaml");
  });
});
