import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CheckoutFault } from "../../../../../lib/sources/git/checkout/checkout-fault.ts";
import { parseGitConfig } from "../../../../../lib/sources/git/checkout/git-config.ts";
import {
  parseGitmodules,
  sharesLogin,
  submoduleUrl,
  withLoginOf,
} from "../../../../../lib/sources/git/checkout/gitmodules.ts";

const submodules = (text: string) => parseGitmodules(Buffer.from(text));

describe(".gitmodules", () => {
  test.each([
    ["on one line with its section", '[submodule "a"] path = vendor/lib\nurl = u'],
    ["in a section that occurs twice", '[submodule "a"]\npath = vendor/lib\n[core]\nx\n[submodule "a"]\nurl = u\n'],
    ["that continues on the next line", '[submodule "a"]\n\tpath = vendor/\\\nlib\n\turl = u\n'],
    ["in quotes with a trailing slash", '[submodule "a"]\npath = "vendor/lib//" # "\nurl = "u"\n'],
    ["in the old notation with CRLF line ends", "\ufeff[SubModule.a]\r\nPath = vendor/lib\r\nURL = u\r\n"],
    ["set twice, and the last one wins", '[submodule "a"]\npath = x\nurl = y\npath = vendor/lib\nurl = u\n'],
  ])("has a path %s", (_, text) => {
    expect(submodules(text)).toEqual([{ path: "vendor/lib", url: "u" }]);
  });

  test.each([
    ["other sections", '[sub "a"]\npath = p\nurl = u\n'],
    ["a section without a name", "[submodule]\npath = p\nurl = u\n"],
    ["a path without a URL", '[submodule "a"]\npath = p\n'],
    ["a path without a value", '[submodule "a"]\npath\nurl = u\n'],
  ])("has no submodule if there is only %s", (_, text) => {
    expect(submodules(text)).toEqual([]);
  });

  test("treats submodule names as case-sensitive", () => {
    const text = '[submodule "a"]\npath = p\nurl = u\n[submodule "A"]\npath = q\nurl = v\n';
    expect(submodules(text)).toEqual([
      { path: "p", url: "u" },
      { path: "q", url: "v" },
    ]);
  });

  test.each([
    '[submodule "a]\n',
    "[submodule\n",
    'ok = 1\n[a]\npath = "open\n',
    "[a]\nx = \\q\n",
    "[a]\n1 = 2\n",
    "x y",
  ])("is refused if git refuses it: %j", (text) => {
    expect(() => submodules(text)).toThrow(CheckoutFault);
    expect(() => submodules(text)).toThrow(/^\.gitmodules has a line that is not git's notation/);
  });
});

test("of a large file returns variables one by one, so that memory stays small", () => {
  const variables = parseGitConfig(`[submodule "a"]\npath = p\n[x\n`, "f");
  expect(variables.next().value).toEqual({ section: "submodule.a", name: "path", value: "p" });
  expect(() => variables.next()).toThrow(CheckoutFault);
});

test("a git config shares a long section name between all its variables, so that memory stays small", () => {
  const name = "n".repeat(100_000);
  const before = process.memoryUsage().heapUsed;
  const found = [...parseGitConfig(`[submodule "${name}"]\n${"a = b\n".repeat(20_000)}`, "f")];
  expect(found.every(({ section }) => section === `submodule.${name}`)).toBe(true);
  // 2 GB if each had a copy.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(200_000_000);
});

const hasGit = spawnSync("git", ["--version"]).status === 0;

/** As `git config --list -z` prints them; undefined if it refuses the file. */
function variablesOfGit(text: string): readonly string[] | undefined {
  const { status, stdout } = spawnSync("git", ["config", "--no-includes", "-f", "-", "--list", "-z"], {
    input: text,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], GIT_CONFIG_NOSYSTEM: "1" },
  });
  return status === 0 ? stdout.split("\0").slice(0, -1) : undefined;
}

function variables(text: string): readonly string[] | undefined {
  try {
    return Array.from(parseGitConfig(text, "f"), ({ section, name, value }) => {
      const key = section === "" ? name : `${section}.${name}`;
      return value === undefined ? key : `${key}\n${value}`;
    });
  } catch (error) {
    if (error instanceof CheckoutFault) return undefined;
    throw error;
  }
}

test.skipIf(!hasGit)("a git config gives the same variables as in git", () => {
  const piece = fc.constantFrom(
    ...["[a]", '[submodule "x"]', '[submodule "X y"]', "[a.B]", "[submodule", '"x\\"y"]', "]", "[", "\n", "\r\n", "\n"],
    ...[" ", "=", " = ", "path", "url", "Key-1", '"', "\\", "\\\n", "\\n", "\\q", "#", ";", "v", "a/b", "ä", "1", "."],
  );
  const line = fc.constantFrom(
    ...[
      '[submodule "x"]\n',
      "[core]\n",
      " path = a/b ; c\n",
      "url=../u.git\r\n",
      "path = a \\\n  b\n",
      'url = "u # v" w\n',
    ],
  );
  const file = fc.array(fc.oneof({ weight: 2, arbitrary: line }, piece), { maxLength: 8 }).map((all) => all.join(""));
  fc.assert(
    fc.property(file, (text) => {
      expect(variables(text)).toEqual(variablesOfGit(text));
    }),
    { numRuns: 60, examples: [["[]"]] },
  );
});

const parent = "https://git.example.test/group/app.git";
test.each([
  [parent, "../lib.git", "https://git.example.test/group/lib.git"],
  [parent, "./lib.git", "https://git.example.test/group/app.git/lib.git"],
  [parent, "../../lib.git", "https://git.example.test/lib.git"],
  [parent, "../../../../lib", "https://git.example.test/lib"],
  [`${parent}//`, "../lib", "https://git.example.test/group/lib"],
  [`${parent}?token=x#y`, "../lib", "https://git.example.test/group/lib"],
  ["https://me:x@git.example.test:8443/group/app", "../lib", "https://me:x@git.example.test:8443/group/lib"],
  ["ssh://git@git.example.test/group/app", "../lib", "ssh://git@git.example.test/group/lib"],
  [parent, "git@other.test:org/lib.git", "ssh://git@other.test/org/lib.git"],
  [parent, "other.test:org/lib", "ssh://git@other.test/org/lib"],
  [parent, "me@other.test:/srv/lib", "ssh://me@other.test/srv/lib"],
  [parent, "http://other.test/lib", "http://other.test/lib"],
  [parent, "ssh://me@other.test:2222/lib", "ssh://me@other.test:2222/lib"],
])("in %s, the submodule's URL %s resolves to %s", (of, url, whole) => {
  expect(submoduleUrl({ path: "lib", url }, of)).toBe(whole);
});

test.each([
  ["https://git.example.test/lib", true],
  ["https://GIT.example.test:443/lib", true],
  ["https://me@git.example.test/lib", true],
  ["http://git.example.test/lib", false],
  ["http://git.example.test:443/lib", false],
  ["ssh://git.example.test/lib", false],
  ["https://git.example.test:8443/lib", false],
  ["https://git.example.test.evil.test/lib", false],
  ["https://sub.git.example.test/lib", false],
])("a submodule at %s shares the login of its parent: %s", (url, shares) => {
  expect([sharesLogin(url, parent), sharesLogin(parent, url)]).toEqual([shares, shares]);
});

test.each([
  ["https://h.test/lib", "https://u%40:p%2F@h.test/lib"],
  ["https://own@h.test/lib", "https://own@h.test/lib"],
  ["https://own:x@h.test/lib", "https://own:x@h.test/lib"],
  ["https://:x@h.test/lib", "https://:x@h.test/lib"],
])("a submodule at %s uses its own login rather than its parent's: %s", (url, whole) => {
  expect(withLoginOf("https://u%40:p%2F@h.test/app", url)).toBe(whole);
});
