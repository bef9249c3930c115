import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type GoFolder, licencesIn, type ThirdParty } from "./notice-text.ts";

/** The LGPL is a supplement to the GPL, and asks that a copy of both be handed on; packages bring only the first. */
const gpl = readFileSync(join(import.meta.dirname, "gpl-3.0.txt"), "utf8");

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().default("none"),
      license: z.string().default("none"),
      dev: z.boolean().default(false),
      optional: z.boolean().default(false),
      link: z.boolean().default(false),
    }),
  ),
});

/**
 * The packages of package-lock.json that Sluice runs on, with the texts that lie in node_modules. Node is not among them, nor are
 * our own workspaces.
 */
export function npmPackages(root: string): readonly ThirdParty[] {
  const { packages } = Lock.parse(JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")));
  return Object.entries(packages)
    .filter(([path, { dev, optional, link }]) => path.includes("node_modules/") && !link && !dev && !optional)
    .map(([path, { version, license }]) => {
      const texts = [...licenceTexts(join(root, path)), ...(license.startsWith("LGPL-3.0") ? [gpl] : [])];
      // An old package names its licence in a way that npm leaves out of the lock file.
      const licence = license === "none" ? licencesIn(texts.join("\n")).join(" AND ") : license;
      return { name: path.replace(/^.*node_modules\//, ""), version, licence, texts };
    });
}

const Downloaded = z.object({ Dir: z.string() });

/** `name version` of Go and of each module that a go.mod requires, in its order. */
export function goModuleNames(root: string, folder: GoFolder): readonly string[] {
  const text = readFileSync(join(root, folder, "go.mod"), "utf8");
  const go = /^toolchain go(.+)$/m.exec(text)?.[1];
  if (go === undefined) throw new Error(`${folder}/go.mod names no toolchain`);
  const required = [...text.matchAll(/^(?:require )?\s*([^\s/]+\/\S+) (v\S+)(?: \/\/ indirect)?$/gm)];
  return [`Go ${go}`, ...required.map(([, name, version]) => `${name} ${version}`)];
}

/** The modules of a go.mod and Go's own library, with the texts in Go's cache. Needs Go, and downloads missing modules. */
export function goModules(root: string, folder: GoFolder): readonly ThirdParty[] {
  return goModuleNames(root, folder).map((named) => {
    const [name = "", version = ""] = named.split(" ");
    const texts =
      name === "Go"
        ? licenceTexts(run(root, "env", "GOROOT").trim())
        : licenceTexts(folderOf(root, name, version), { recursive: true });
    // Go's modules do not name their licence, so it is recognised by its wording.
    return { name, version, licence: licencesIn(texts.join("\n")).join(" AND "), texts };
  });
}

function folderOf(root: string, name: string, version: string): string {
  return Downloaded.parse(JSON.parse(run(root, "mod", "download", "-json", `${name}@${version}`))).Dir;
}

function run(root: string, ...args: readonly string[]): string {
  return execFileSync("go", args, { cwd: join(root, "engine"), encoding: "utf8" });
}

/** The texts of a package's licence, copying and notice files, sorted by path; `recursive`: also those of its subfolders. */
function licenceTexts(folder: string, { recursive = false } = {}): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive })
    .filter((entry) => entry.isFile() && /^(licen[cs]e|copying|notice)([.-](md|txt|mit))*$/i.test(entry.name))
    .map(({ name, parentPath }) => join(parentPath, name))
    .toSorted()
    .map((file) => readFileSync(file, "utf8"));
}
