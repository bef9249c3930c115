import { spawnSync } from "node:child_process";
import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { bundleFunctions } from "./bundle.ts";

// Before `npm pack` in this folder: what the package has beside the definitions, compiled. The package depends only on the CDK, which
// its user installs: the schema of the installation and the code that writes it are compiled in.
const folder = import.meta.dirname;
const root = join(folder, "..");
await rm(join(folder, "dist"), { recursive: true, force: true });
// Tests make them once, and read them while this runs.
if (!process.argv.includes("--keep-bundles")) await bundleFunctions(join(folder, "bundles"));
await build({
  entryPoints: [join(folder, "lib/index.ts")],
  outfile: join(folder, "dist/index.js"),
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20.19",
  format: "esm",
  keepNames: true,
  legalComments: "none",
  logLevel: "error",
  external: ["aws-cdk-lib", "constructs"],
});
const { status } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", join(folder, "tsconfig.types.json")], {
  stdio: ["ignore", 2, 2],
});
for (const name of ["LICENSE", "NOTICE"]) await copyFile(join(root, name), join(folder, "dist", name));
process.exitCode = status ?? 1;
