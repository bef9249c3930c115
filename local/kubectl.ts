import { spawn } from "node:child_process";
import { once } from "node:events";
import { layerKubectl } from "./layer.ts";

/** `npm run kubectl -- ARGUMENTS`: the kubectl that Sluice brings, for a machine that has none. */
const kubectl = await layerKubectl((line) => process.stderr.write(`${line}\n`));
const child = spawn(kubectl, process.argv.slice(2), { stdio: "inherit" });
// A Ctrl-C reaches both; kubectl says how it ends.
process.on("SIGINT", () => undefined);
await once(child, "exit");
process.exitCode = child.exitCode ?? 1;
