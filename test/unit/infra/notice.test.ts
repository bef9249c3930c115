import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { goFolders, goTitles, noticeHeading, noticePart, npmTitle } from "../../../infra/notice/notice-text.ts";
import { goModuleNames, npmPackages } from "../../../infra/notice/third-party.ts";

const root = join(import.meta.dirname, "../../..");
const notice = readFileSync(join(root, "NOTICE"), "utf8");

test("NOTICE lists the packages of package-lock.json with their licences; otherwise run node infra/write-notice.ts", () => {
  const expected = [noticeHeading, noticePart(npmTitle, npmPackages(root))].join("\n");
  expect(notice.slice(0, expected.length)).toBe(expected);
});

test.each(goFolders)(
  "NOTICE lists the Go modules of %s/go.mod with their versions; otherwise run node infra/write-notice.ts",
  (folder) => {
    const after = notice.slice(notice.indexOf(goTitles[folder]));
    const [part = ""] = after.split("=".repeat(80));
    const listed = [...part.matchAll(/^ {2}(\S+ \S+), \S.*$/gm)].map(([, named]) => named);
    expect(listed).toEqual(goModuleNames(root, folder));
  },
);

const apache = "Apache License\nVersion 2.0, January 2004\nEND OF TERMS AND CONDITIONS\nCopyright 2020 One";
const mit = "Copyright 2021 Two\nPermission is hereby granted, free of charge";

test("NOTICE has each licence text once, and of the Apache licence only the copyright holders", () => {
  const part = noticePart("Title", [
    { name: "a", version: "1.0.0", licence: "Apache-2.0", texts: [apache] },
    { name: "b", version: "2.0.0", licence: "MIT", texts: [mit] },
    { name: "c", version: "3.0.0", licence: "MIT", texts: [`${mit}\r\n`] },
  ]);
  expect(part.split("-".repeat(80))).toEqual([
    expect.stringContaining("Title\n\n  a 1.0.0, Apache-2.0\n  b 2.0.0, MIT\n  c 3.0.0, MIT\n"),
    "\na\n\nCopyright 2020 One\n\n",
    `\nb, c\n\n${mit}\n`,
  ]);
});

test("a file that contains another licence next to Apache's is kept completely", () => {
  const both = `${mit}\n${apache}`;
  const part = noticePart("Title", [{ name: "a", version: "1.0.0", licence: "Apache-2.0 AND MIT", texts: [both] }]);
  expect(part).toContain(`a\n\n${both}\n`);
});

test.each(["LGPL-3.0-or-later", "MIT AND SSPL-1.0", "none", ""])(
  "the licence %j is refused until it has been reviewed",
  (licence) => {
    expect(() => noticePart("Title", [{ name: "a", version: "1.0.0", licence, texts: [] }])).toThrow(
      `licences to be read first: a 1.0.0, ${licence}`,
    );
  },
);
