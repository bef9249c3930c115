import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../..");
const maxColumns = 120;
const outside = (path: string) => /(?:^|\/)node_modules(?:\/|$)/.test(path);

/** The numbers of the lines of prose that are too long. Tables and code are not prose: a cell or a command cannot wrap. */
function longLines(markdown: string): readonly number[] {
  let isCode = false;
  return markdown.split("\n").flatMap((line, index) => {
    if (line.trimStart().startsWith("```")) isCode = !isCode;
    const isProse = !isCode && !/^(?:\s*\||\s{4,}\S)/.test(line);
    return isProse && line.length > maxColumns ? [index + 1] : [];
  });
}

test("no line of prose in our Markdown has more than 120 columns", async () => {
  const pages: string[] = [];
  const found: string[] = [];
  for await (const page of glob(["*.md", "{docs,engine,packages,test}/**/*.md"], { cwd: root, exclude: outside })) {
    pages.push(page);
    const text = await readFile(join(root, page), "utf8");
    found.push(...longLines(text).map((line) => `${page}:${line}`));
  }
  expect(pages).toEqual(expect.arrayContaining(["README.md", "docs/maintainers/architecture.md", "engine/README.md"]));
  expect(found).toEqual([]);
});

test("the check finds a long line of prose, and allows one in a table or in code", () => {
  const long = "word ".repeat(30);
  const page = [long, `| ${long} |`, "```sh", long, "```", `- ${long}`, "x".repeat(120), `    ${long}`].join("\n");
  expect(longLines(page)).toEqual([1, 6]);
});
