import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { licenceTexts } from "./licence-texts.ts";
import type { ThirdParty } from "./notice-text.ts";

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string(),
      license: z.string().default("none"),
      dev: z.boolean().default(false),
      optional: z.boolean().default(false),
    }),
  ),
});

/** The packages of package-lock.json that Sluice runs on, with the texts that lie in node_modules. Node is not among them. */
export function npmPackages(root: string): readonly ThirdParty[] {
  const { packages } = Lock.parse(JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")));
  return Object.entries(packages)
    .filter(([path, { dev, optional }]) => path !== "" && !dev && !optional)
    .map(([path, { version, license }]) => ({
      name: path.replace(/^.*node_modules\//, ""),
      version,
      licence: license,
      texts: licenceTexts(join(root, path)),
    }));
}
