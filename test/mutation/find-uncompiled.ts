import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutant } from "./score.ts";

/**
 * Those of the mutants that do not compile: the types notice them, so that no test has to. An unused name alone does not
 * count. Each is written beside its file in a copy of the project, so one run of the compiler is enough; what only those
 * who import the file would not compile with is not found.
 */
export function findUncompiled(mutants: readonly Mutant[], folder: string): ReadonlySet<Mutant> {
  const byPath = new Map(mutants.map((mutant, index) => [mutant.file.replace(/\.ts$/, `.mutant-${index}.ts`), mutant]));
  for (const [path, { file, start, end, to }] of byPath) {
    const text = readFileSync(join(folder, file), "utf8");
    writeFileSync(join(folder, path), `${text.slice(0, start)}${to}${text.slice(end)}`);
  }
  const settings = join(folder, "tsconfig.mutation.json");
  writeFileSync(settings, JSON.stringify({ extends: "./tsconfig.json", include: [...byPath.keys()] }));
  const tsc = join(folder, "node_modules/.bin/tsc");
  const { stdout } = spawnSync(tsc, ["-p", settings], { cwd: folder, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  const refused = new Set<Mutant>();
  for (const line of stdout.split("\n")) {
    const path = /^(.*)\(\d+,\d+\): error TS(?!6133|6192|6196|6198|7027)/.exec(line)?.[1];
    const mutant = path === undefined ? undefined : byPath.get(path);
    if (mutant !== undefined) refused.add(mutant);
  }
  return refused;
}
