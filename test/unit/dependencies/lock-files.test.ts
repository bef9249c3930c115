import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";

const root = join(import.meta.dirname, "../../..");
const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      integrity: z.string().optional(),
      resolved: z.string().optional(),
      link: z.boolean().optional(),
      inBundle: z.boolean().optional(),
      hasInstallScript: z.boolean().optional(),
    }),
  ),
});

function locked(file: string): readonly (readonly [string, z.infer<typeof Lock>["packages"][string]])[] {
  return Object.entries(Lock.parse(JSON.parse(readFileSync(join(root, file), "utf8"))).packages).filter(
    ([path]) => path !== "",
  );
}

/** Every package that asks to run code while it is installed. A new line here is a review of that code. */
const withInstallScript = {
  // Compares its binary with its version: cli/install.js and "allowScripts" leave it out, and esbuild works without.
  "package-lock.json": ["node_modules/esbuild@0.28.2"],
  // Compiles the client of Lambda's runtime interface, for a part of the tests alone, in a folder of its own.
  "test/real/npm/aws-lambda-ric/package-lock.json": ["node_modules/aws-lambda-ric@4.0.2"],
  "test/mutation/package-lock.json": [],
};

test.each(Object.entries(withInstallScript))(
  "%s names no package with an install script that is not listed",
  (file, listed) => {
    const found = locked(file).filter(([, { hasInstallScript }]) => hasInstallScript === true);
    expect(found.map(([path, { version }]) => `${path}@${version}`)).toEqual(listed);
  },
);

test.each(Object.keys(withInstallScript))("%s pins the bytes of every package that is fetched", (file) => {
  const loose = locked(file).filter(
    ([, { integrity, inBundle }]) => inBundle !== true && integrity?.startsWith("sha512-") !== true,
  );
  expect(loose.map(([path]) => path)).toEqual([]);
});

test("package.json names exact versions, and refuses the install scripts of its lock file one by one", () => {
  const { dependencies, devDependencies, optionalDependencies, allowScripts } = z
    .object({
      dependencies: z.record(z.string(), z.string()),
      devDependencies: z.record(z.string(), z.string()),
      optionalDependencies: z.record(z.string(), z.string()),
      allowScripts: z.record(z.string(), z.boolean()),
    })
    .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
  const versions = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  const names = withInstallScript["package-lock.json"].map((entry) => entry.replace(/^node_modules\/(.+)@.*$/, "$1"));
  expect(allowScripts).toEqual(Object.fromEntries(names.map((name) => [name, false])));
});
