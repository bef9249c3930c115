import { existsSync, statSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../..");
const outside = (path: string) => /(?:^|\/)(?:node_modules|\.cache)(?:\/|$)/.test(path);
const withoutCode = (markdown: string) => markdown.replaceAll(/^ *```[^]*?^ *```$/gm, "").replaceAll(/`[^`\n]+`/g, "`");

/** Headings as GitHub makes anchors of them; the second of a name gets `-1`. */
function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of markdown.replaceAll(/^ *```[^]*?^ *```$/gm, "").matchAll(/^#+ +(.*)$/gm)) {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").trim();
    const name = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
    let anchor = name;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${name}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** The links of a page that lead to no file, or to no heading of one. Links to other hosts are not followed. */
function brokenLinks(page: string, pages: ReadonlyMap<string, string>): readonly string[] {
  const links = withoutCode(pages.get(page) ?? "").matchAll(/\]\(\s*([^)\s]+)\s*\)/g);
  return [...links].flatMap(([, link = ""]) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : normalize(join(dirname(page), path));
    const text = pages.get(target);
    const isFound = text === undefined ? existsSync(join(root, target)) : true;
    const leads = isFound && (anchor === undefined || text === undefined || anchorsOf(text).has(anchor));
    return leads ? [] : [`${page}: ${link}`];
  });
}

test("every link in our Markdown points to an existing file and heading", async () => {
  const pages = new Map<string, string>();
  for await (const page of glob("**/*.md", { cwd: root, exclude: outside })) {
    if (statSync(join(root, page)).isFile()) pages.set(page, await readFile(join(root, page), "utf8"));
  }
  expect(pages.has("docs/maintainers/architecture.md")).toBe(true);
  expect([...pages.keys()].flatMap((page) => brokenLinks(page, pages))).toEqual([]);
});

test("the check finds a link to a missing file or heading, and skips links in code", () => {
  const page = "[a](b.md) [b](#c) [d](README.md) [e](#a--heading) `[f](g.md)`\n## `A` & [heading](#c)\n";
  expect(brokenLinks("page.md", new Map([["page.md", page]]))).toEqual(["page.md: b.md", "page.md: #c", "page.md: #c"]);
});

test("the index names every page once, and the folder of decisions in place of each", async () => {
  const index = await readFile(join(root, "docs/README.md"), "utf8");
  const named = [...index.matchAll(/\]\(([^)#]+)\)/g)].map(([, link = ""]) => normalize(link));
  const pages: string[] = [];
  for await (const page of glob("**/*.md", { cwd: join(root, "docs") })) {
    if (page !== "README.md" && !page.startsWith("maintainers/adr/")) pages.push(page);
  }
  expect(named.toSorted()).toEqual([...pages, "maintainers/adr"].toSorted());
});
