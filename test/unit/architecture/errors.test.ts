import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../..");
/** An operator decides by its name: docs/maintainers/state-table.md. */
const namedInDocuments = ["LayoutError"];

/** The classes of errors that a text declares. An abstract one is a family. */
function errorClasses(text: string): readonly string[] {
  return [...text.matchAll(/^(?:export )?class (\w+) extends \w*(?:Error|Failure|Fault)\b/gm)].map(
    ([, name = ""]) => name,
  );
}

function undecided(texts: readonly string[]): readonly string[] {
  const decided = new Set(texts.flatMap((text) => [...text.matchAll(/instanceof (\w+)/g)].map(([, name]) => name)));
  return texts.flatMap(errorClasses).filter((name) => !decided.has(name));
}

const texts = globSync("{lib,functions,local,cli}/**/*.ts", {
  cwd: root,
  exclude: (path) => path.endsWith(".d.ts"),
}).map((file) => readFileSync(join(root, file), "utf8"));

test("code makes a decision on every error class (ADR 0051)", () => {
  expect(texts.flatMap(errorClasses)).toEqual(expect.arrayContaining(["ApiError", "Failure", "OutOfSteps"]));
  expect(undecided(texts)).toEqual(namedInDocuments);
});

test("the check finds an error class that no instanceof uses", () => {
  expect(undecided([...texts, "export class NobodyAsks extends PortError<string> {}"])).toContain("NobodyAsks");
});
