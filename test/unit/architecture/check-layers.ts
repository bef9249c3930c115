import { posix } from "node:path";

/** A folder of code, with what it may import. */
export interface Layer {
  /** Relative to the project. Its subfolders are layers of their own. */
  readonly folder: string;
  /** The folders whose files its files may import, types included, besides its own. They stand above it in the list. */
  readonly imports: readonly string[];
  /** What it is for, or why it knows no more. */
  readonly why: string;
}

/** Texts of files by path, relative to the project. */
export type Sources = ReadonlyMap<string, string>;

/** `from "…"`, `import "…"`, `import("…")`, and the URL of a module that a thread runs. */
const specifier = /\b(?:from|import)\s*\(?\s*"((?:\.|@sluice\/)[^"]+)"|\bnew URL\(\s*"(\.[^"]+)"/g;
const code = /\.[cm]?[jt]s$/;

/** Where the imports of files lead against the list of layers, and where the list itself goes wrong: one line each, for people. */
export function layerFaults(sources: Sources, layers: readonly Layer[]): readonly string[] {
  const allowed = new Map(layers.map(({ folder, imports }) => [folder, imports]));
  const used = new Set<string>();
  const faults: string[] = [];
  for (const [file, text] of sources) {
    const folder = posix.dirname(file);
    const imports = allowed.get(folder);
    if (imports === undefined) {
      faults.push(`${file}: the folder ${folder} is not listed. List it with what it may import`);
      continue;
    }
    for (const imported of importsOf(file, text)) {
      const other = posix.dirname(imported);
      if (other === folder) continue;
      used.add(`${folder} ${other}`);
      if (!imports.includes(other)) faults.push(`${file} imports ${imported}: ${mayImport(folder, imports)}`);
    }
  }
  return [...faults, ...listFaults(layers, used)];
}

/** A folder may name only folders above it, so no list that passes lets folders import each other in a circle. */
function listFaults(layers: readonly Layer[], used: ReadonlySet<string>): readonly string[] {
  const above = new Set<string>();
  return layers.flatMap(({ folder, imports }) => {
    const faults = above.has(folder) ? [`${folder} is listed twice`] : [];
    for (const other of imports) {
      if (!above.has(other)) {
        faults.push(
          `${folder} may import ${other}, which is not listed above it: the two could import each other in a circle`,
        );
      } else if (!used.has(`${folder} ${other}`)) {
        faults.push(`${folder} may import ${other}, and no file does: leave it out`);
      }
    }
    above.add(folder);
    return faults;
  });
}

/** The files of the project that a file imports. Data, such as JSON, belongs to no layer. */
function importsOf(file: string, text: string): readonly string[] {
  return [...text.matchAll(specifier)]
    .map(([, imported, run]) => pathOf(imported ?? run ?? "", posix.dirname(file)))
    .filter((imported) => code.test(imported));
}

/** The exports of a package of the project come from one folder. */
function pathOf(imported: string, folder: string): string {
  const [, name] = /^@sluice\/(.+)$/.exec(imported) ?? [];
  return name === undefined ? posix.join(folder, imported) : `packages/${name}/src/index.ts`;
}

function mayImport(folder: string, imports: readonly string[]): string {
  return imports.length === 0 ? `${folder} may import no other folder` : `${folder} may import ${imports.join(", ")}`;
}

/** The list as a table of Markdown. */
export function layerTable(layers: readonly Layer[]): string {
  const rows = layers.map(({ folder, imports, why }) => {
    const names = imports.map((one) => `\`${one}\``).join(", ");
    return `| \`${folder}\` | ${names} | ${why} |`;
  });
  return ["| folder | may import | why |", "| --- | --- | --- |", ...rows].join("\n");
}
