// The `app` of cdk.json, for the CDK's command line of any installation and any version of Node that it runs on.
import { spawnSync } from "child_process";
import { dirname, join } from "path";
import { fileURLToPath } from "url";
import { missingNode, ownNode } from "./own-node.js";

const here = dirname(fileURLToPath(import.meta.url));
const steps = [
  () => run(process.execPath, join(here, "install.js")),
  () => run(process.execPath, join(here, "install.js"), "infra"),
  startApp,
];
process.exitCode = steps.every((step) => step() === 0) ? 0 : 1;

function startApp() {
  const node = ownNode();
  const { CDK_DEFAULT_ACCOUNT = "", SLUICE_CDK_COMMAND = "" } = process.env;
  if (node !== undefined) return run(node, join(here, "../infra/app.ts"), SLUICE_CDK_COMMAND, CDK_DEFAULT_ACCOUNT);
  process.stderr.write(missingNode("the app"));
  return 1;
}

/** @param {string[]} command */
function run(...command) {
  return spawnSync(command[0], command.slice(1), { stdio: "inherit" }).status;
}
