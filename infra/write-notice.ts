import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { goFolders, goTitles, noticeHeading, noticePart, npmTitle } from "./notice/notice-text.ts";
import { goModules, npmPackages } from "./notice/third-party.ts";

const root = join(import.meta.dirname, "..");
const parts = [
  noticeHeading,
  noticePart(npmTitle, npmPackages(root)),
  ...goFolders.map((folder) => noticePart(goTitles[folder], goModules(root, folder))),
];
await writeFile(join(root, "NOTICE"), parts.join("\n"));
