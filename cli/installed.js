#!/usr/bin/env node
// The `sluice` of the installed package (infra/pack-cli.ts), in plain JavaScript for versions of Node that are too old: main.mjs
// beside it is the bundle of cli/main.ts.
const [major, minor] = process.versions.node.split(".").map(Number);

if (major > 20 || (major === 20 && minor >= 19)) {
  import(new URL("main.mjs", import.meta.url).href).catch((/** @type {Error} */ error) => {
    process.stderr.write(`✗ sluice cannot start: ${error.stack}\n`);
    process.exitCode = 1;
  });
} else {
  process.stderr.write(
    `✗ sluice needs Node 20.19 or later, this is ${process.version}: install a newer Node and try again\n`,
  );
  process.exitCode = 1;
}
