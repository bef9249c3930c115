import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Cluster } from "../../lib/core/ports/cluster.ts";
import { connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { type LocalOptions, startLocal } from "../../local/start-local.ts";
import { type Outcome, runCommand } from "../doubles/run-command.ts";
import { silentLog } from "../doubles/silent-log.ts";

/** A Sluice that runs in this process, and commands that are run as their process would run them. */
export interface CliWorld {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly registry: string;
  /** `http://127.0.0.1:PORT`. */
  readonly receiver: string;
  readonly cluster: Cluster;
  /** What the next command finds on its standard input. */
  input: readonly string[];
  /** How the user answers questions on the terminal; undefined without a terminal. */
  answer: ((question: string) => Promise<boolean>) | undefined;
  /** Runs a command on the cluster of this Sluice. */
  sh(...args: readonly string[]): Promise<Outcome>;
  runIn(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Outcome>;
  close(): Promise<void>;
}

/** @param options of the Sluice that runs; its command line knows the same kinds */
export async function cliWorld(options: Partial<LocalOptions> = {}): Promise<CliWorld> {
  const { signal } = new AbortController();
  const folder = await mkdtemp(join(tmpdir(), "sluice-cli-"));
  const sluice = await startLocal({ state: join(folder, "state"), env: {}, log: silentLog, ...options }, signal);
  const config = await readKubeconfig({ file: sluice.kubeconfig, env: {}, homeDir: folder });
  const cluster = connect(config, { clock: systemClock, env: {} });
  const world: CliWorld = {
    folder,
    kubeconfig: sluice.kubeconfig,
    registry: sluice.registry,
    receiver: sluice.receiver,
    cluster,
    input: [],
    answer: undefined,
    sh: (...args) => world.runIn({ KUBECONFIG: sluice.kubeconfig }, ...args),
    runIn: (env, ...args) =>
      runCommand(args, { env, folder, input: world.input, confirm: world.answer, kinds: options.kinds }),
    async close() {
      cluster.close();
      await sluice.close();
      await rm(folder, { recursive: true });
    },
  };
  return world;
}
