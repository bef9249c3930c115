import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "../../../lib/core/failure.ts";

/**
 * `node test/interop/flagger/build-flagger.ts [--fetch]`: builds Flagger as it is released, and prints the shell variables by which the
 * tests find it. Without --fetch it uses only modules that Go has already; if some are missing, it says so within a fraction of a second,
 * prints nothing and ends with status 3. The first build takes some minutes.
 */
const execute = promisify(execFile);
const go = process.env["SLUICE_GO"] ?? "/usr/local/go/bin/go";
const output = join(import.meta.dirname, "../../../.cache/interop/flagger");
const packageName = "github.com/fluxcd/flagger/cmd/flagger";
const module = "github.com/fluxcd/flagger";
const isMissing = 3;
const fetched: Readonly<Record<string, string>> = process.argv.includes("--fetch") ? {} : { GOPROXY: "off" };

async function run(...args: readonly string[]): Promise<string> {
  const PATH = [dirname(go), process.env["PATH"]].join(delimiter);
  const options = {
    cwd: join(import.meta.dirname, "flagger"),
    env: { ...process.env, GOFLAGS: "-mod=readonly", GOWORK: "off", ...fetched, PATH },
    maxBuffer: 64 * 1024 * 1024,
  };
  return (await execute(go, args, options)).stdout.trim();
}

try {
  await run("list", "-deps", packageName);
} catch (error) {
  const said = messageOf(error).trim().split("\n").at(-1) ?? "";
  process.stderr.write(`Flagger is not built: this machine does not have its modules (${said})\n`);
  process.exit(isMissing);
}
await mkdir(output, { recursive: true });
// With the flags of the real parts, so that shared packages are compiled once.
const flags = ["-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-gcflags=all=-dwarf=false"];
const program = join(output, "flagger");
await run("build", ...flags, "-o", program, packageName);
const folder = await run("list", "-m", "-f", "{{.Dir}}", module);
process.stdout.write(
  `export SLUICE_FLAGGER='${program}'\nexport SLUICE_FLAGGER_CRDS='${join(folder, "artifacts/flagger/crd.yaml")}'\n`,
);
