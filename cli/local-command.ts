import type { Command } from "commander";
import { parseHostPattern } from "../lib/core/network/host-pattern.ts";
import type { GlobalOptions, Surroundings } from "./settings.ts";

interface LocalCommandOptions extends GlobalOptions {
  readonly state: string;
  readonly registryPort?: number;
  readonly receiverPort?: number;
  readonly apiPort?: number;
  readonly hostName?: readonly string[];
  readonly config?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

export function addLocalCommand(root: Command, surroundings: Surroundings): void {
  const { terminal, env, signal, onSignal, exit } = surroundings;
  const local = root
    .command("local")
    .description(
      "run all of Sluice here, with a registry and a Kubernetes API of its own, or with --kubeconfig on any cluster",
    )
    .option("--state <dir>", "folder that everything is kept in", ".sluice")
    .option("--registry-port <port>", "port of the registry, 0 for a free one (default: as last time)", port)
    .option("--receiver-port <port>", "port of the webhook receiver, 0 for a free one (default: as last time)", port)
    .option("--api-port <port>", "port of the Kubernetes API, 0 for a free one (default: as last time)", port)
    .option("--host-name <name>", "name that these three answer to, beside localhost; may be given again", hostName)
    .option("--config <file>", "settings of the installation (docs/settings.md)")
    .option("--json", "when ready, say where everything is in one line of JSON on stdout")
    .option("--verbose", "log everything");
  local.action(async () => {
    const options = local.optsWithGlobals<LocalCommandOptions>();
    const { state, registryPort, receiverPort, apiPort, hostName: names = [], kubeconfig, context } = options;
    if (context !== undefined && kubeconfig === undefined) throw new Error("--context needs --kubeconfig FILE here");
    const [{ groupedLines }, { readSettingsFile }, { runLocal }, { writeLog }] = await Promise.all([
      import("../local/grouped-lines.ts"),
      import("../local/read-settings-file.ts"),
      import("../local/run-local.ts"),
      import("../lib/core/write-log.ts"),
    ]);
    const settings = await readSettingsFile(options.config);
    const file =
      kubeconfig === undefined
        ? {}
        : { kubeconfig: { file: kubeconfig, ...(context === undefined ? {} : { context }) } };
    const lines = groupedLines((text) => {
      terminal.note(text);
    });
    // However it ends, short of being killed.
    process.once("exit", lines.flush);
    const log = writeLog(lines.write, options.verbose === true ? "debug" : "info");
    if (options.config !== undefined) log.info("settings read", { file: options.config, given: [...settings.given] });
    // A signal that comes again, as through npm, which passes on what the terminal has sent already, must not cut the end short.
    onSignal(() => undefined);
    const code = await runLocal(
      { state, registryPort, receiverPort, apiPort, names, settings: settings.values, log, ...file },
      { json: options.json === true },
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
    // What is left, such as a connection that a peer keeps open, must not hold up the end.
    exit(code);
  });
}

function hostName(text: string, earlier: readonly string[] = []): readonly string[] {
  if (parseHostPattern(text) !== undefined) return [...earlier, text];
  throw new Error(`"${text}" is no host: give a name such as host.docker.internal, or with a port, NAME:PORT`);
}

function port(text: string): number {
  const number = Number(text);
  if (/^\d{1,5}$/.test(text) && number <= 65_535) return number;
  throw new Error(`"${text}" is no port: give a number from 0, which takes a free one, to 65535`);
}
