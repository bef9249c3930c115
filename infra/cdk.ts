import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { bundleFunctions } from "./bundle.ts";

// `npm run cdk -- synth`: bundles the functions, since the constructs take them as they lie there, and then runs the CDK's own
// command line, whose version is the lock file's.
await bundleFunctions(join(import.meta.dirname, "bundles"));
// Whoever looks at it first has no clusters at hand. A deploy has to name them: without, it would let go of those that it had.
const args = process.argv.slice(2);
const hasClusters = args.some((arg) => /^(--context=|-c)?clusters=/.test(arg));
if (args[0] === "synth" && !hasClusters) {
  process.stderr.write("► no clusters are given: synthesising without any (-c clusters=<ARN>,<ARN> names yours)\n");
  args.push("-c", "clusters=none");
}
const cdk = join(import.meta.dirname, "node_modules/aws-cdk/bin/cdk");
const { status, error } = spawnSync(process.execPath, [cdk, ...args], {
  cwd: import.meta.dirname,
  stdio: "inherit",
});
if (error !== undefined) throw error;
process.exitCode = status ?? 1;
