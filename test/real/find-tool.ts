import { accessSync, constants } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { PartName } from "./part.ts";
import { PartFailure } from "./part-failure.ts";

/** Folders in which a tool often lies without being on the PATH, and how to install it. */
const tools: Readonly<Record<string, { readonly folders: readonly string[]; readonly mend: string }>> = {
  go: { folders: ["/usr/local/go/bin"], mend: "Install Go 1.24 or newer (https://go.dev/dl)" },
  java: { folders: [], mend: "Install a JDK, 17 or newer (Debian: openjdk-17-jdk-headless)" },
  javac: { folders: [], mend: "Install a JDK, 17 or newer; a JRE is not enough (Debian: openjdk-17-jdk-headless)" },
  mvn: { folders: [], mend: "Install Maven (Debian: maven)" },
  cmake: { folders: [], mend: "Install CMake (Debian: cmake)" },
  "g++": { folders: [], mend: "Install a C++ compiler (Debian: g++)" },
  make: { folders: [], mend: "Install make (Debian: make)" },
  npm: { folders: [dirname(process.execPath)], mend: "Install npm (Debian: npm)" },
  xz: { folders: [], mend: "Install xz (Debian: xz-utils)" },
  python3: { folders: [], mend: "Install Python 3.10 or newer with venv (Debian: python3-venv)" },
};

/** The path of a tool of this machine. A path is answered as it is. */
export function findTool(name: string, part: PartName): string {
  if (name.includes("/")) return name;
  const { folders = [], mend = "Install it" } = tools[name] ?? {};
  const path = process.env["PATH"] ?? "";
  const found = [...path.split(delimiter), ...folders].map((folder) => join(folder, name)).find(isExecutable);
  if (found === undefined) {
    throw new PartFailure(part, `there is no \`${name}\` on this machine. ${mend}, and see that it is on the PATH`);
  }
  return found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
