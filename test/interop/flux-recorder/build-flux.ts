import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "../../../lib/core/failure.ts";

/**
 * `node test/interop/flux-recorder/build-flux.ts [--fetch] [--all]`: builds two of Flux's controllers as Flux releases them, and prints the
 * shell variables by which the tests find them. With --all it builds all six that the typical repository needs, from one module, so that
 * the packages that they share are compiled once. Without --fetch it uses only modules that Go has already; if some are missing, it says so
 * within a fraction of a second, prints nothing and ends with status 3. The first build takes a quarter of an hour, and one of all half an
 * hour.
 */
const execute = promisify(execFile);
const go = process.env["SLUICE_GO"] ?? "/usr/local/go/bin/go";
const ofRecordings = ["source-controller", "kustomize-controller"] as const;
const others = [
  "helm-controller",
  "notification-controller",
  "image-reflector-controller",
  "image-automation-controller",
] as const;
const isAll = process.argv.includes("--all");
const controllers = isAll ? [...ofRecordings, ...others] : ofRecordings;
const output = join(import.meta.dirname, "../../../.cache/interop", isAll ? "flux-all" : "flux");
const variables = isAll ? "SLUICE_FLUX_ALL" : "SLUICE_FLUX";
const isMissing = 3;

async function run(name: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const PATH = [dirname(go), process.env["PATH"]].join(delimiter);
  const options = {
    cwd: isAll ? join(import.meta.dirname, "../fleet/controllers") : join(import.meta.dirname, name),
    env: { ...process.env, GOFLAGS: "-mod=readonly", GOWORK: "off", ...env, PATH },
    maxBuffer: 64 * 1024 * 1024,
  };
  return (await execute(go, args, options)).stdout.trim();
}

const packageOf = (name: string): string => `github.com/fluxcd/${name}`;
const fetched: Readonly<Record<string, string>> = process.argv.includes("--fetch") ? {} : { GOPROXY: "off" };

for (const name of controllers) {
  try {
    await run(name, ["list", "-deps", packageOf(name)], fetched);
  } catch (error) {
    const said = messageOf(error).trim().split("\n").at(-1) ?? "";
    process.stderr.write(`Flux is not built: this machine does not have the modules of ${name} (${said})\n`);
    process.exit(isMissing);
  }
}
await mkdir(output, { recursive: true });
// With the flags of the real parts, so that shared packages are compiled once.
const flags = ["-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-gcflags=all=-dwarf=false"];
const definitions: string[] = [];
for (const name of controllers) {
  await run(name, ["build", ...flags, "-o", join(output, name), packageOf(name)], fetched);
  const folder = await run(name, ["list", "-m", "-f", "{{.Dir}}", packageOf(name)], fetched);
  definitions.push(join(folder, "config/crd/bases"));
}
process.stdout.write(
  `export ${variables}_CONTROLLERS='${output}'\nexport ${variables}_CRDS='${definitions.join(delimiter)}'\n`,
);
