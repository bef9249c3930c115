// Runs on the machine's own Node before the demo and the tests: installs the packages of the lock file, once. An argument names
// a folder with a lock file of its own, as infra/ has.
import { spawnSync } from "child_process";
import { existsSync, lstatSync, statSync } from "fs";
import { dirname, join } from "path";
import { fileURLToPath } from "url";

const [folder = "."] = process.argv.slice(2);
const root = join(dirname(fileURLToPath(import.meta.url)), "..", folder);

if (isLink("node_modules")) {
  // npm ci would empty the folder behind the link, which others may use.
  process.stderr.write("► node_modules is a link: installing nothing and using the packages there\n");
} else if (changedAt("node_modules/.package-lock.json") < changedAt("package-lock.json")) {
  // If npm has started this script, it says where npm is.
  const npm = process.env.npm_execpath;
  const command = npm === undefined ? ["npm"] : [process.execPath, npm];
  const flags = ["ci", "--ignore-scripts", "--include=dev", "--include=optional", "--no-audit", "--no-fund"];
  process.stderr.write(
    `► installing the packages of ${join(folder, "package-lock.json")}, once (npm ci, about a minute)\n`,
  );
  // Standard output belongs to the command that follows.
  const result = spawnSync(command[0], command.slice(1).concat(flags, "--loglevel=error"), {
    cwd: root,
    stdio: ["inherit", 2, 2],
  });
  if (result.status !== 0) {
    const reason = result.error === undefined ? `it ended with ${result.status}` : result.error.message;
    process.stderr.write(`✗ npm ci has failed (${reason}): see above, fix the cause and try again\n`);
    process.exit(1);
  }
  if (
    folder === "." &&
    Number(process.versions.node.split(".")[0]) < 24 &&
    !existsSync(join(root, "node_modules/.bin/node"))
  ) {
    process.stderr.write(
      `✗ Node 24 or later is needed, this is ${process.version}, and npm has no Node for ${process.platform} on ${process.arch}: install Node and try again\n`,
    );
    process.exit(1);
  }
}

/**
 * @param {string} name
 */
function isLink(name) {
  try {
    return lstatSync(join(root, name)).isSymbolicLink();
  } catch {
    return false;
  }
}

/**
 * When a file of the project was written, in milliseconds; 0 where there is none.
 * @param {string} name
 */
function changedAt(name) {
  try {
    return statSync(join(root, name)).mtimeMs;
  } catch {
    return 0;
  }
}
