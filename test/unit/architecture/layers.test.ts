import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, test } from "vitest";
import { type Layer, layerFaults, layerTable, type Sources } from "./check-layers.ts";
import { layers } from "./layers.ts";
import { embeddedKubernetesLayers } from "./layers/embedded-kubernetes.ts";

const root = join(import.meta.dirname, "../../..");
/** `bench/`, `examples/` and tests may import everything, and no layer may import them. */
const outside = /(?:^|\/)(?:\.[^/]*|node_modules|test|bench|examples|dist)(?:\/|$)/;

const all: readonly Layer[] = [
  ...embeddedKubernetesLayers.map(({ folder, imports, why }) => ({
    folder: inPackage(folder),
    imports: imports.map(inPackage),
    why,
  })),
  ...layers,
];

function inPackage(folder: string): string {
  return `packages/embedded-kubernetes/${folder}`;
}

/** The code in folders of the project. */
const sources: Sources = new Map(
  globSync("*/**/*.{ts,js}", { cwd: root, exclude: (path) => outside.test(path) }).map(
    (file) => [file, readFileSync(join(root, file), "utf8")] as const,
  ),
);

describe("the project", () => {
  test("each folder of code imports only the folders that are listed for it", () => {
    expect([...sources.keys()]).toEqual(
      expect.arrayContaining(["lib/core/digest.ts", "cli/sluice.js", "infra/app.ts", "functions/ingest.ts"]),
    );
    expect(layerFaults(sources, all)).toEqual([]);
  });

  test.each([
    ["Sluice", "docs/maintainers/architecture.md", layers],
    ["embedded-kubernetes", "packages/embedded-kubernetes/docs/layers.md", embeddedKubernetesLayers],
  ])("the document shows the list of layers of %s", (_name, page, list) => {
    const text = readFileSync(join(root, page), "utf8");
    const begin = text.indexOf("| folder | may import | why |");
    const [table] = text.slice(Math.max(begin, 0)).split("\n\n");
    expect(table?.trimEnd()).toBe(layerTable(list));
  });

  test.each([
    ["lib/core/digest.ts", "lib/gate/pause.ts", "lib/core may import no other folder"],
    ["lib/core/digest.ts", "lib/sops/tree.ts", "lib/core may import no other folder"],
    ["lib/sops/tree.ts", "lib/flows/interval.ts", "lib/sops may import lib/core"],
    ["packages/embedded-kubernetes/src/store/store.ts", "lib/core/json.ts", /src\/store may import .*src\/core$/],
  ])("%s must not import %s", (file, imported, why) => {
    const path = posix.relative(posix.dirname(file), imported);
    const text = `${sources.get(file)}\nimport type {} from "${path}";\n`;
    const [fault, ...others] = layerFaults(new Map([...sources, [file, text]]), all);
    expect(fault).toContain(`${file} imports ${imported}: `);
    expect(fault).toMatch(why);
    expect(others).toEqual([]);
  });
});

describe("a list of layers", () => {
  const list: readonly Layer[] = [
    { folder: "low", imports: [], why: "" },
    { folder: "low/part", imports: ["low"], why: "" },
    { folder: "high", imports: ["low/part"], why: "" },
  ];
  const fine = {
    "low/a.ts": 'import { b } from "./b.ts";\nimport { readFile } from "node:fs";\n',
    "low/b.ts": "",
    "low/part/c.ts": 'import { a } from "../a.ts";\n',
    "high/d.ts": 'import { c } from "../low/part/c.ts";\n',
  };
  const faultsOf = (files: Readonly<Record<string, string>>, of = list) =>
    layerFaults(new Map(Object.entries({ ...fine, ...files })), of);

  test("files may import what is listed for their folder, their own folder and packages", () => {
    expect(faultsOf({})).toEqual([]);
  });

  test.each([
    ["a value", 'import { d } from "../high/d.ts";'],
    ["a type", 'import type { D } from "../high/d.ts";'],
    ["names on several lines", 'import {\n  d,\n  type D,\n} from "../high/d.ts";'],
    ["for its effect", 'import "../high/d.ts";'],
    ["by an export", 'export { d } from "../high/d.ts";'],
    ["when it is needed", 'const { d } = await import("../high/d.ts");'],
    ["the type of a module", 'type D = typeof import("../high/d.ts").d;'],
    ["as the module of a thread", 'new Worker(new URL("../high/d.ts", import.meta.url));'],
  ])("an import that is not listed is refused: %s", (_name, text) => {
    expect(faultsOf({ "low/x.ts": text })).toEqual(["low/x.ts imports high/d.ts: low may import no other folder"]);
  });

  test("a package of this repository is the folder of its code", () => {
    expect(faultsOf({ "low/x.ts": 'import { start } from "@sluice/part";' })).toEqual([
      "low/x.ts imports packages/part/src/index.ts: low may import no other folder",
    ]);
  });

  test("the message names the folders that may be imported", () => {
    expect(faultsOf({ "high/x.ts": 'import { a } from "../low/a.ts";' })).toEqual([
      "high/x.ts imports low/a.ts: high may import low/part",
    ]);
  });

  test("a subfolder is a separate layer, for its imports and for imports of it", () => {
    expect(faultsOf({ "low/x.ts": 'import { c } from "./part/c.ts";' })).toEqual([
      "low/x.ts imports low/part/c.ts: low may import no other folder",
    ]);
  });

  test("a folder that is not listed is refused, whatever it imports", () => {
    expect(faultsOf({ "low/new/x.ts": "" })).toEqual([
      "low/new/x.ts: the folder low/new is not listed. List it with what it may import",
    ]);
  });

  test("folders that import each other are refused, even if both imports are listed", () => {
    const circle = [{ folder: "low", imports: ["low/part"], why: "" }, ...list.slice(1)];
    expect(faultsOf({ "low/x.ts": 'import { c } from "./part/c.ts";' }, circle)).toEqual([
      "low may import low/part, which is not listed above it: the two could import each other in a circle",
    ]);
  });

  test("an import that is listed and that no file uses is refused", () => {
    const generous = [...list.slice(0, 2), { folder: "high", imports: ["low", "low/part"], why: "" }];
    expect(faultsOf({}, generous)).toEqual(["high may import low, and no file does: leave it out"]);
  });

  test("a folder that is listed twice is refused", () => {
    expect(faultsOf({}, [...list, { folder: "high", imports: ["low/part"], why: "" }])).toEqual([
      "high is listed twice",
    ]);
  });

  test("is a table with a row for each folder", () => {
    expect(layerTable([{ folder: "high", imports: ["low", "low/part"], why: "Knows both." }])).toBe(
      "| folder | may import | why |\n| --- | --- | --- |\n| `high` | `low`, `low/part` | Knows both. |",
    );
  });
});
