import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { cliPackage, packCli } from "../../../infra/pack-cli.ts";
import { oldNode } from "../old-node.ts";

/** What a program printed, and how it ended. */
interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The command as `npm install -g` puts it on a machine, on the oldest Node that is there. */
export interface InstalledCommand {
  /** The working folder of each run, and its home. */
  readonly folder: string;
  /** Where its files are. */
  readonly dist: string;
  /** Runs a program with nothing in its environment but a PATH of `node` and `sluice`. */
  run(program: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
  sluice(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Ended>;
  remove(): Promise<void>;
}

/** Packs the command and installs it, without a network, into a folder of its own. */
export async function installedCommand(): Promise<InstalledCommand> {
  const root = await mkdtemp(join(tmpdir(), "sluice-installed-"));
  const [folder, prefix, nodeOnly] = [join(root, "work"), join(root, "prefix"), join(root, "node")];
  for (const each of [folder, nodeOnly]) await mkdir(each);
  await symlink(oldNode ?? process.execPath, join(nodeOnly, "node"));
  const file = await packCli(root);
  const flags = ["--prefix", prefix, "--offline", "--no-audit", "--no-fund", "--cache", join(root, "cache")];
  await promisify(execFile)("npm", ["install", "--global", ...flags, file]);
  const path = [join(prefix, "bin"), nodeOnly].join(delimiter);
  const run: InstalledCommand["run"] = (program, args, env = {}) =>
    ended(program, args, { cwd: folder, env: { PATH: path, HOME: folder, ...env } });
  return {
    folder,
    dist: join(prefix, "lib/node_modules", cliPackage, "dist"),
    run,
    sluice: (env, ...args) => run(join(prefix, "bin/sluice"), args, env),
    remove: () => rm(root, { recursive: true }),
  };
}

function ended(program: string, args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
  return new Promise<Ended>((resolve) => {
    execFile(program, args, options, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), out, err });
    });
  });
}
