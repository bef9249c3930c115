import { glob, readFile } from "node:fs/promises";
import { join, normalize } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../..");

test("the index names every page once, and the folder of decisions in place of each", async () => {
  const index = await readFile(join(root, "docs/README.md"), "utf8");
  const named = [...index.matchAll(/\]\(([^)#]+)\)/g)].map(([, link = ""]) => normalize(link));
  const pages: string[] = [];
  for await (const page of glob("**/*.md", { cwd: join(root, "docs") })) {
    if (page !== "README.md" && !page.startsWith("maintainers/adr/")) pages.push(page);
  }
  expect(named.toSorted()).toEqual([...pages, "maintainers/adr"].toSorted());
});
