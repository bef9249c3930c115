import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { goModules } from "./notice/go-modules.ts";
import { goTitle, noticeHeading, noticePart, npmTitle } from "./notice/notice-text.ts";
import { npmPackages } from "./notice/npm-packages.ts";

const root = join(import.meta.dirname, "..");
const parts = [noticeHeading, noticePart(npmTitle, npmPackages(root)), noticePart(goTitle, goModules(root))];
await writeFile(join(root, "NOTICE"), parts.join("\n"));
