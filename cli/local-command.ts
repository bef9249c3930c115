import { resolve } from "node:path";
import type { Command } from "commander";
import { parseHostPattern } from "../lib/core/network/host-pattern.ts";
import type { ClusterEntry } from "../local/open-cluster.ts";
import { needsNode24 } from "./needs-node-24.ts";
import type { GlobalOptions, Surroundings } from "./session.ts";

interface LocalCommandOptions extends Omit<GlobalOptions, "kubeconfig" | "context"> {
  readonly kubeconfig?: readonly string[];
  readonly context?: readonly string[];
  readonly state: string;
  readonly registryPort?: number;
  readonly receiverPort?: number;
  readonly apiPort?: number;
  readonly hostName?: readonly string[];
  readonly config?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly reset?: boolean;
  readonly yes?: boolean;
}

export function addLocalCommand(root: Command, surroundings: Surroundings): void {
  const { terminal, env, signal, onSignal, exit } = surroundings;
  const local = root
    .command("local")
    .description(
      "run all of Sluice on this machine, with its own registry and Kubernetes API, or on any clusters: with several --kubeconfig, or several --context of one",
    )
    .option("--state <dir>", "folder for all state", ".sluice")
    .option("--registry-port <port>", "port of the registry, 0 for a free port (default: the last one)", port)
    .option("--receiver-port <port>", "port of the webhook receiver, 0 for a free port (default: the last one)", port)
    .option("--api-port <port>", "port of the Kubernetes API, 0 for a free port (default: the last one)", port)
    .option(
      "--host-name <name>",
      "also answer requests to this name, besides localhost; can be given several times",
      hostName,
    )
    .option("--config <file>", "file with the settings of the installation (docs/settings.md)")
    .option("--json", "when ready, print all addresses as one line of JSON on stdout")
    .option("--verbose", "log every request and decision")
    .option("--reset", "remove all state instead: the embedded cluster, the registry and what Sluice has recorded")
    .option("--yes", "with --reset: do not ask for confirmation");
  local.action(async () => {
    needsNode24("sluice local");
    const options = local.optsWithGlobals<LocalCommandOptions>();
    if (options.reset === true) {
      await reset(options, surroundings);
      return;
    }
    if (options.yes === true) throw new Error("--yes needs --reset");
    const { state, registryPort, receiverPort, apiPort, hostName: names = [] } = options;
    const [first, ...others] = clusterEntries(options);
    const [{ groupedLines }, { humanLog }, { readSettingsFile }, { runLocal }, { writeLog }, { systemClock }] =
      await Promise.all([
        import("../local/log-lines.ts"),
        import("../local/log-lines.ts"),
        import("../local/read-settings-file.ts"),
        import("../local/run-local.ts"),
        import("../lib/process/write-log.ts"),
        import("../lib/process/system-clock.ts"),
      ]);
    const settings = await readSettingsFile(options.config);
    const lines = groupedLines((text) => {
      terminal.note(text);
    });
    // However it ends, unless it is killed.
    process.once("exit", lines.flush);
    const least = options.verbose === true ? "debug" : "info";
    const isForPeople = terminal.isScreen && options.json !== true;
    const log = isForPeople ? humanLog(lines.write, { least, clock: systemClock }) : writeLog(lines.write, least);
    if (options.config !== undefined) log.info("settings read", { file: options.config, given: [...settings.given] });
    // A second signal must not interrupt the shutdown: npm passes on a signal that the terminal has sent already.
    onSignal(() => undefined);
    const code = await runLocal(
      {
        ...{ state, registryPort, receiverPort, apiPort, names, log },
        settings: settings.values,
        ...(first === undefined ? {} : { clusters: [first, ...others] }),
      },
      { json: options.json === true, saysWhereStateIs: isForPeople },
      {
        env,
        signal,
        writeOut: (text) => {
          if (options.json === true) terminal.document(text);
          else terminal.out(text);
        },
        writeError: (text) => {
          lines.flush();
          terminal.note(text);
        },
      },
    );
    // A connection that a peer keeps open, for example, must not delay the end.
    exit(code);
  });
}

/**
 * The clusters of `--kubeconfig` and `--context`, named as the user named them: several kubeconfigs, each with its own current context, or
 * several contexts of one kubeconfig. None for the embedded cluster.
 *
 * @throws Error for any other combination, and for a cluster that is named twice
 */
export function clusterEntries({
  kubeconfig: files = [],
  context: contexts = [],
}: Pick<LocalCommandOptions, "kubeconfig" | "context">): readonly ClusterEntry[] {
  const [file] = files;
  if (file === undefined && contexts.length > 0) throw new Error("--context needs --kubeconfig FILE here");
  if (files.length > 1 && contexts.length > 0) {
    throw new Error(
      "--context chooses contexts of one kubeconfig: give one --kubeconfig with each --context, or several --kubeconfig, whose current contexts are used",
    );
  }
  refuseTwice("--kubeconfig", files, resolve);
  refuseTwice("--context", contexts, (context) => context);
  if (file === undefined || contexts.length === 0) return files.map((each) => ({ name: each, file: each }));
  return contexts.map((context) => ({ name: context, file, context }));
}

function refuseTwice(option: string, values: readonly string[], identityOf: (value: string) => string): void {
  const twice = values.find(
    (value, index) => values.findIndex((each) => identityOf(each) === identityOf(value)) < index,
  );
  if (twice !== undefined) throw new Error(`${option} ${twice} is given twice: name each cluster once`);
}

/** `local --reset`: removes the state folder's content after the user has confirmed it. */
async function reset({ state, yes }: LocalCommandOptions, { terminal, signal }: Surroundings): Promise<void> {
  const [{ resetStateFolder }, { systemClock }] = await Promise.all([
    import("../local/state-folder.ts"),
    import("../lib/process/system-clock.ts"),
  ]);
  const confirm = (path: string): Promise<boolean> => {
    if (yes === true) return Promise.resolve(true);
    if (terminal.confirm === undefined) throw new Error(`--reset removes all state in ${path}: confirm it with --yes`);
    return terminal.confirm(
      `Remove all state in ${path}, with the embedded cluster and the registry? What Sluice applied to other clusters stays there.`,
    );
  };
  const done = await resetStateFolder(state, confirm, { clock: systemClock }, signal);
  if (done.kind === "declined") {
    terminal.action("nothing was removed");
    return;
  }
  terminal.success(`removed all state in ${state}`);
  if (done.left.length === 0) return;
  terminal.warning(
    `left in ${state}, because Sluice did not write it: ${done.left.join(", ")}. sluice local does not start there while it holds other files`,
  );
}

function hostName(text: string, earlier: readonly string[] = []): readonly string[] {
  if (parseHostPattern(text) !== undefined) return [...earlier, text];
  throw new Error(`invalid host name "${text}": give a name such as host.docker.internal, or NAME:PORT`);
}

function port(text: string): number {
  const number = Number(text);
  if (/^\d{1,5}$/.test(text) && number <= 65_535) return number;
  throw new Error(`invalid port "${text}": give a number from 1 to 65535, or 0 for a free port`);
}
