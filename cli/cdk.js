#!/usr/bin/env node
// `npx cdk` and `npm run cdk`: the CDK's own command line of infra/package-lock.json, whose packages it installs at the first call.
// Plain JavaScript for old versions of Node.
import { spawnSync } from "child_process";
import { existsSync } from "fs";
import { createRequire } from "module";
import { dirname, join, sep } from "path";
import { fileURLToPath } from "url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..");
const commands = ["deploy", "destroy", "diff", "drift", "import", "refactor", "rollback", "watch"];

// Below the root the CDK would only say that --app is required.
if (process.cwd().startsWith(root + sep) && !existsSync("cdk.json")) {
  process.stderr.write(`► running in ${root}, where cdk.json is\n`);
  process.chdir(root);
}

if ([".", "infra"].every(install)) {
  // The CDK does not tell an app which command it is run for. These compare with a deployed stack or change it, so the app refuses
  // them while the installation is not written down.
  const command = process.argv.slice(2).find((word) => commands.includes(word));
  if (command === undefined) delete process.env.SLUICE_CDK_COMMAND;
  else process.env.SLUICE_CDK_COMMAND = command;
  createRequire(import.meta.url)(join(here, "../infra/node_modules/aws-cdk/bin/cdk"));
} else process.exitCode = 1;

/**
 * Whether the packages of a folder's lock file are there.
 * @param {string} folder
 */
function install(folder) {
  return spawnSync(process.execPath, [join(here, "install.js"), folder], { stdio: "inherit" }).status === 0;
}
