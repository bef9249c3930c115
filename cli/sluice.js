#!/usr/bin/env node
// Plain JavaScript for old versions of Node: it finds a Node that runs TypeScript directly, and starts the command with it.
import { spawn } from "child_process";
import * as modules from "module";
import { constants } from "os";
import { dirname, join } from "path";
import { fileURLToPath } from "url";
import { isNewEnough, missingNode, ownNode } from "./own-node.js";

const here = fileURLToPath(import.meta.url);

if (isNewEnough) {
  // Caches the code without types: stripping them at each start costs 200 ms and 25 MB. Not in /tmp, where others may write.
  modules.enableCompileCache(join(dirname(here), "..", "node_modules", ".cache", "sluice"));
  import("./main.ts").catch((/** @type {Error} */ error) => {
    process.stderr.write(`✗ sluice cannot start: ${error.stack}\n`);
    process.exitCode = 1;
  });
} else {
  const node = ownNode();
  if (node !== undefined) run(node);
  else {
    process.stderr.write(missingNode("sluice"));
    process.exitCode = 1;
  }
}

/**
 * Runs the command with another Node as if it were this process: same terminal, same signals, same exit.
 * @param {string} node
 */
function run(node) {
  const child = spawn(node, [here].concat(process.argv.slice(2)), {
    stdio: "inherit",
    // The child watches this process and ends with it, even if it is killed by a signal that it cannot pass on.
    env: Object.assign({}, process.env, {
      SLUICE_LAUNCHER: String(process.pid),
      SLUICE_LAUNCHER_NODE: process.version,
    }),
  });
  const signals = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR2"];
  /** @param {NodeJS.Signals} signal */
  const passOn = (signal) => {
    // Ctrl-C in a terminal reaches both processes anyway.
    if (signal === "SIGINT" && process.stdin.isTTY) return;
    child.kill(signal);
  };
  for (const signal of signals) process.on(signal, passOn);
  child.on("error", (error) => {
    process.stderr.write(`✗ ${node} cannot be run: ${error.message}\n`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(Number(code));
    for (const each of signals) process.removeListener(each, passOn);
    process.kill(process.pid, signal);
    // Some signals do not end a process, or not at once.
    setTimeout(() => process.exit(128 + (constants.signals[signal] || 0)), 100);
  });
}
