import { posix } from "node:path";

/** Code that runs processes for tests. `lib/` can start one too, but only where a kubeconfig names a program, and `cli/` is started itself. */
const startsThem = /(^|\/)test\/|^local\//;
const imported = /\b(?:from|import)\s*\(?\s*"([^"]+)"/g;

/**
 * Those of the test files whose imports lead to `node:child_process` by way of test code and `local/`. Paths are relative to the project.
 *
 * @param read the text of a file; undefined if there is none
 */
export function filesThatStartProcesses(
  testFiles: readonly string[],
  read: (file: string) => string | undefined,
): readonly string[] {
  const texts = new Map<string, readonly string[]>();
  const importsOf = (file: string): readonly string[] => {
    const known = texts.get(file) ?? [...(read(file) ?? "").matchAll(imported)].map(([, name = ""]) => name);
    texts.set(file, known);
    return known;
  };
  const leadsThere = (file: string, seen: Set<string>): boolean => {
    seen.add(file);
    const names = importsOf(file);
    if (names.includes("node:child_process")) return true;
    return names
      .filter((name) => name.startsWith("."))
      .map((name) => posix.join(posix.dirname(file), name))
      .some((next) => startsThem.test(next) && !seen.has(next) && leadsThere(next, seen));
  };
  return testFiles.filter((file) => leadsThere(file, new Set()));
}
