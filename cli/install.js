// Run by the machine's own Node before the demo and the tests: installs what the lock file names, unless it is there already.
import { spawnSync } from "child_process";
import { existsSync, lstatSync, statSync } from "fs";
import { dirname, join } from "path";
import { fileURLToPath } from "url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

if (isLink("node_modules")) {
  // npm ci empties the folder that it leads to, under whoever else works with it.
  process.stderr.write("► node_modules is a link: nothing is installed, what is there is used\n");
} else if (changedAt("node_modules/.package-lock.json") < changedAt("package-lock.json")) {
  // Where npm has started this script, it says where it lies itself.
  const npm = process.env.npm_execpath;
  const command = npm === undefined ? ["npm"] : [process.execPath, npm];
  const flags = ["ci", "--ignore-scripts", "--include=dev", "--include=optional", "--no-audit", "--no-fund"];
  process.stderr.write("► installing what package-lock.json names, once (npm ci, about a minute)\n");
  // The standard output is that of the command that follows.
  const result = spawnSync(command[0], command.slice(1).concat(flags, "--loglevel=error"), {
    cwd: root,
    stdio: ["inherit", 2, 2],
  });
  if (result.status !== 0) {
    const reason = result.error === undefined ? `it ended with ${result.status}` : result.error.message;
    process.stderr.write(`✗ npm ci has failed (${reason}): see above, mend it and try again\n`);
    process.exit(1);
  }
  if (Number(process.versions.node.split(".")[0]) < 24 && !existsSync(join(root, "node_modules/.bin/node"))) {
    process.stderr.write(
      `✗ Node 24 or later is needed, this is ${process.version}, and npm has none for ${process.platform} on ${process.arch}: install it and try again\n`,
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
