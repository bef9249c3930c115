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
    // The project itself, and its workspaces, which are links to folders of ours.
    ([path, { link }]) => path.includes("node_modules/") && link !== true,
  );
}

/** Every package that asks to run code while it is installed. A new line here is a review of that code. */
const withInstallScript = {
  // cli/install.js and "allowScripts" leave them out, and all work without. esbuild's compares its binary with its version; those
  // of cpu-features and ssh2 compile native code, in whose place JavaScript and Node's own ciphers are used.
  "package-lock.json": ["node_modules/cpu-features@0.0.10", "node_modules/esbuild@0.28.2", "node_modules/ssh2@1.17.0"],
  // Compiles the client of Lambda's runtime interface, for a part of the tests alone, in a folder of its own.
  "test/real/npm/aws-lambda-ric/package-lock.json": ["node_modules/aws-lambda-ric@4.0.2"],
  "infra/package-lock.json": [],
  "test/mutation/package-lock.json": [],
};

test.each(Object.entries(withInstallScript))(
  "%s contains no unlisted package with an install script",
  (file, listed) => {
    const found = locked(file).filter(([, { hasInstallScript }]) => hasInstallScript === true);
    expect(found.map(([path, { version }]) => `${path}@${version}`)).toEqual(listed);
  },
);

test.each(Object.keys(withInstallScript))("%s pins the digest of every package that is fetched", (file) => {
  const loose = locked(file).filter(
    ([, { integrity, inBundle }]) => inBundle !== true && integrity?.startsWith("sha512-") !== true,
  );
  expect(loose.map(([path]) => path)).toEqual([]);
});

test("package.json has exact versions, and refuses the install scripts of its lock file one by one", () => {
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
