import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { licenceTexts } from "./licence-texts.ts";
import { licencesIn, type ThirdParty } from "./notice-text.ts";

const Downloaded = z.object({ Dir: z.string() });

/** `name version` of Go and of each module that engine/go.mod requires, in its order. */
export function goModuleNames(root: string): readonly string[] {
  const text = readFileSync(join(root, "engine/go.mod"), "utf8");
  const go = /^toolchain go(.+)$/m.exec(text)?.[1];
  if (go === undefined) throw new Error("engine/go.mod names no toolchain");
  const required = [...text.matchAll(/^(?:require )?\s*([^\s/]+\/\S+) (v\S+)(?: \/\/ indirect)?$/gm)];
  return [`Go ${go}`, ...required.map(([, name, version]) => `${name} ${version}`)];
}

/** The modules of engine/go.mod and Go's own library, with the texts that lie in Go's cache. Needs Go, fetches what is missing. */
export function goModules(root: string): readonly ThirdParty[] {
  return goModuleNames(root).map((named) => {
    const [name = "", version = ""] = named.split(" ");
    const texts =
      name === "Go"
        ? licenceTexts(run(root, "env", "GOROOT").trim())
        : licenceTexts(folderOf(root, name, version), { recursive: true });
    // Go's modules name no licence, so it is known by its words.
    return { name, version, licence: licencesIn(texts.join("\n")).join(" AND "), texts };
  });
}

function folderOf(root: string, name: string, version: string): string {
  return Downloaded.parse(JSON.parse(run(root, "mod", "download", "-json", `${name}@${version}`))).Dir;
}

function run(root: string, ...args: readonly string[]): string {
  return execFileSync("go", args, { cwd: join(root, "engine"), encoding: "utf8" });
}
