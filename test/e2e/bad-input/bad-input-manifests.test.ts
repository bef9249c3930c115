import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Files } from "../../unit/manifests/build-files.ts";
import { type BadInputWorld, badInputWorld, configMapYaml } from "./bad-input-world.ts";

const canary = "c4n4ry-5e1f-of-the-environment";
const head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: bad\n  namespace: default\n";
let world: BadInputWorld;

beforeAll(async () => {
  world = await badInputWorld({ SLUICE_CANARY: canary });
});
afterAll(() => world[Symbol.asyncDispose]());

/** 60 MB that pack well, though not as well as an archive bomb. */
function longString(): string {
  const varied = (index: number): string =>
    Array.from({ length: 7 }, (_, part) => createHash("sha512").update(`${index} ${part}`).digest("hex")).join("");
  return Array.from({ length: 915 }, (_, index) => varied(index).padEnd(65_536, "a")).join("");
}

/** Nine levels of ten aliases each: a thousand million values in a few hundred bytes. */
function aliasBomb(): string {
  const levels = Array.from({ length: 9 }, (_, level) => {
    const aliases = Array.from({ length: 10 }, () => `*a${level}`).join(", ");
    return `  a${level + 1}: &a${level + 1} [${aliases}]\n`;
  });
  return `  a0: &a0 x\n${levels.join("")}`;
}

const nested = `${head}data: ${"[".repeat(5_000)}${"]".repeat(5_000)}\n`;
const keys = Array.from({ length: 200_000 }, (_, index) => `  key-${index}: v\n`).join("");
const objects = Array.from({ length: 200_000 }, (_, index) => head.replace("bad", `bad-${index}`)).join("---\n");
/** Makes the engine build it, instead of the builder for plain YAML in process. */
const byEngine = { "kustomization.yaml": "resources: [a.yaml, good.yaml]\n" };
const only = (...resources: readonly string[]): Files => ({
  "kustomization.yaml": JSON.stringify({ resources: ["good.yaml", ...resources] }),
});

describe("invalid manifests are named in Ready and in the log, none of them is applied, and other objects are reconciled", () => {
  const unread = "BuildFailed: failed to decode Kubernetes YAML from a.yaml:";
  const unbuilt = "BuildFailed: kustomize build failed:";
  const refused = "ReconciliationFailed: ";

  test.each<{ name: string; files: Files; says: string }>([
    {
      name: "no-yaml",
      files: { "a.yaml": `${head}data: [` },
      says: `${unread} MalformedYAMLError: yaml: line 6: did not find expected node content`,
    },
    {
      name: "a-key-twice",
      files: { "a.yaml": `${head}data:\n  x: y\n  x: z\n` },
      says: 'line 8: mapping key "x" already defined at line 7',
    },
    {
      name: "alias-bomb-of-nine-levels",
      files: { "a.yaml": `${head}data:\n${aliasBomb()}` },
      says: `${unread} yaml: line 13: its aliases expand to more than 16777216 bytes`,
    },
    {
      name: "alias-bomb-for-the-engine",
      files: { "a.yaml": `${head}data:\n${aliasBomb()}`, ...byEngine },
      says: `${unbuilt} it needs more than 512 MiB of memory: split the folder`,
    },
    {
      // Half a megabyte when it is packed. Its characters one by one are more than the heap of a thread.
      name: "a-string-of-60-megabytes",
      files: { "a.yaml": `${head}data:\n  a: "${longString()}"\n` },
      says: `${unbuilt} it needs more than 512 MiB of memory: `,
    },
    {
      name: "nested-in-5000-levels",
      files: { "a.yaml": nested },
      says: `${unread} yaml: line 6: nested deeper than 100 levels`,
    },
    {
      name: "nested-for-the-engine",
      files: { "a.yaml": nested, ...byEngine },
      says: `${unbuilt} what kustomize printed cannot be read: nesting exceeded maxDepth (200)`,
    },
    {
      name: "200000-entries",
      files: { "a.yaml": `${head}data:\n${keys}` },
      says: `${refused}ConfigMap/default/bad dry-run failed (RequestEntityTooLarge): Request entity too large`,
    },
    {
      name: "200000-objects",
      files: { "a.yaml": objects },
      says: `${unread} yaml: line 150001: more than 25000 objects: split them over several Kustomizations`,
    },
    {
      name: "no-kind",
      files: { "a.yaml": "metadata:\n  name: a\n" },
      says: `${unread} missing kind in object {{ } {{a } map[] map[]}}`,
    },
    {
      name: "no-name",
      files: { "a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n" },
      says: `${unread} missing metadata.name in object {{v1 ConfigMap} {{ } map[] map[]}}`,
    },
    {
      name: "the-same-object-twice",
      files: { "a.yaml": head, "b.yaml": head },
      says: "may not add resource with an already registered id: ConfigMap.v1.[noGrp]/bad.default",
    },
    {
      name: "a-path-out-of-the-artifact",
      files: only("../../../etc/passwd"),
      says: `${unbuilt} accumulating resources: accumulation err='accumulating resources from '../../../etc/passwd': fs-security-constraint read /etc/passwd: path '/etc/passwd' is not in or below '.'`,
    },
    {
      name: "an-absolute-path",
      files: only("/etc/passwd"),
      says: `${unbuilt} accumulating resources: accumulation err='accumulating resources from '/etc/passwd': fs-security-constraint read /etc/passwd: path '/etc/passwd' is not in or below '.'`,
    },
    {
      name: "a-file-on-the-network",
      files: only("https://example.com/x.yaml"),
      says: `${unbuilt} 'https://example.com/x.yaml': remote bases are not supported: put a copy into the artifact`,
    },
    {
      name: "a-repository-on-the-network",
      files: only("github.com/org/repo"),
      says: `${unbuilt} accumulating resources: accumulation err='accumulating resources from 'github.com/org/repo': open github.com/org/repo: no such file or directory': remote bases are not supported: put a copy into the artifact`,
    },
    {
      name: "the-environment-as-a-file",
      files: {
        "kustomization.yaml": JSON.stringify({
          resources: ["good.yaml"],
          configMapGenerator: [{ name: "stolen", envs: ["/proc/self/environ"] }],
        }),
      },
      says: `${unbuilt} loading KV pairs: env source files: [/proc/self/environ]: fs-security-constraint`,
    },
    {
      name: "an-unknown-kind",
      files: { "a.yaml": "apiVersion: nowhere.test/v1\nkind: Unheard\nmetadata: {name: a, namespace: default}\n" },
      says: `${refused}Unheard/default/a dry-run failed: no matches for kind "Unheard" in version "nowhere.test/v1"`,
    },
    {
      name: "an-object-that-is-refused",
      files: {
        "a.yaml":
          "apiVersion: v1\nkind: Service\nmetadata: {name: bad, namespace: default}\nspec: {ports: [{port: 99999}]}\n",
      },
      says: `${refused}Service/default/bad dry-run failed (Invalid): Service "bad" is invalid: [spec.ports[0].port: Invalid value: 99999`,
    },
    {
      name: "a-namespace-that-is-not-there",
      files: { "a.yaml": head.replace("default", "nowhere") },
      says: `${refused}ConfigMap/nowhere/bad not found: namespaces "nowhere" not found`,
    },
  ])(
    "$name",
    async ({ name, files, says }) => {
      await world.push(name, { ...files, "good.yaml": configMapYaml("from-bad-manifests") });
      await world.source(name);
      expect(await world.answer("OCIRepository", name, "True")).toContain("stored artifact");
      await world.kustomization(name);
      const told = await world.answer("Kustomization", name, says);
      expect(told).toContain(says);
      await expect.poll(() => world.failedRuns("Kustomization", name)).toContain(told.replace(/^False /, ""));
      // The author has no use for the state folder of the process.
      expect(told).not.toContain(world.local.state);
      expect(await world.has("from-bad-manifests")).toBe(false);
    },
    300_000,
  );
});

describe("an unusable dependency is named in Ready, nothing is applied, and other objects are reconciled", () => {
  beforeAll(async () => {
    await world.push("depending", { "good.yaml": configMapYaml("from-depending") });
    await world.source("depending");
  });

  const circle = "is not ready: circular dependency detected:";
  test.each([
    { name: "missing", dependsOn: "nobody", says: "dependency 'default/nobody' not found" },
    { name: "not-ready", dependsOn: "no-yaml", says: "dependency 'default/no-yaml' is not ready" },
    {
      name: "itself",
      dependsOn: "itself",
      says: `dependency 'default/itself' ${circle} default/itself -> default/itself`,
    },
    { name: "first", dependsOn: "second", says: "dependency 'default/second' not found" },
    {
      name: "second",
      dependsOn: "first",
      says: `dependency 'default/first' ${circle} default/second -> default/first -> default/second`,
    },
  ])("$name", async ({ name, dependsOn, says }) => {
    const sourceRef = { kind: "OCIRepository", name: "depending" };
    await world.kustomization(name, { dependsOn: [{ name: dependsOn }], sourceRef });
    const message = `False DependencyNotReady: ${says}`;
    expect(await world.answer("Kustomization", name, message)).toContain(message);
    expect(await world.has("from-depending")).toBe(false);
  });
});

test("no output, object, log or table contains the environment of the process", async () => {
  expect(world.log.join("\n")).not.toContain(canary);
  const files = await readdir(world.local.state, { recursive: true, withFileTypes: true });
  const contents = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name))),
  );
  expect(contents.filter((bytes) => bytes.includes("bystander")).length).toBeGreaterThan(0);
  expect(contents.filter((bytes) => bytes.includes(canary))).toEqual([]);
});
