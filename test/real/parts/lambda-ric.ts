import { existsSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { here } from "../folders.ts";
import type { Installation } from "../part.ts";

const source = "npm/aws-lambda-ric";
/** The tools that build it, besides Python: checked first, so that a missing tool is named instead of a failed build. */
const tools = ["cmake", "make", "g++", "xz"];
const kept = [
  "node_modules/@aws/lambda-invoke-store",
  "node_modules/aws-lambda-ric/index.mjs",
  "node_modules/aws-lambda-ric/package.json",
  "node_modules/aws-lambda-ric/rapid-client.node",
];

/** Lambda's own runtime for Node: it compiles curl and its client, hence no dependency of ours. */
export const lambdaRic: Installation = {
  program: "aws-lambda-ric",
  toolchain: "npm",
  locks: ["package.json", "package-lock.json"].map((name) => join(source, name)),
  needsMegabytes: 200,
  async install(folder, { run }) {
    for (const tool of tools) await run(tool, ["--version"], { cwd: folder });
    const build = join(folder, "build");
    await cp(join(here, source), build, { recursive: true });
    const headers = [dirname(dirname(process.execPath)), "/usr", "/usr/local"].find(hasHeaders);
    // Otherwise node-gyp fetches headers from nodejs.org. Any version works: the client speaks to Node's stable interface.
    const env = headers === undefined ? {} : { npm_config_nodedir: headers };
    // Its scripts compile it, so they run even if the machine's own settings forbid scripts.
    const options = ["--ignore-scripts=false", "--foreground-scripts", "--no-audit", "--no-fund"];
    await run("npm", ["ci", ...options], { cwd: build, env });
    for (const path of kept) await cp(join(build, path), join(folder, path), { recursive: true });
    await rm(build, { recursive: true });
  },
};

function hasHeaders(prefix: string): boolean {
  return ["node_api.h", "common.gypi"].every((name) => existsSync(join(prefix, "include/node", name)));
}
