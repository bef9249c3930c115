import { Command } from "commander";
import { ownVersion } from "../lib/core/own-version.ts";
import { addCheckCommand } from "./check-command.ts";
import { withFluxHint } from "./flux-commands.ts";
import { addGetCommands } from "./get-commands.ts";
import { addLocalCommand } from "./local-command.ts";
import { addPushCommand } from "./push-command.ts";
import { addReconcileCommands } from "./reconcile-commands.ts";
import type { GlobalOptions, Surroundings } from "./settings.ts";
import type { EventsOptions } from "./show-events.ts";
import { addSuspendCommands } from "./suspend-commands.ts";
import { addTakeOverCommand } from "./take-over-command.ts";

/** The whole command line. Actions import what they need when they run, so that `--help` starts fast. */
export function program(surroundings: Surroundings): Command {
  const { terminal } = surroundings;
  const root = new Command("sluice")
    .description("GitOps for Amazon EKS without controllers to run. Speaks to the cluster of the kubeconfig.")
    .option("-n, --namespace <namespace>", "namespace of the objects (default: flux-system, or $FLUX_SYSTEM_NAMESPACE)")
    .option("--ns-follows-kube-context", "take the namespace of the kubeconfig's context instead")
    .option("--kubeconfig <file>", "kubeconfig to use (default: $KUBECONFIG, then ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig to use")
    .option("--timeout <duration>", "how long the whole command may take (default: 5m)")
    .version(`sluice version ${ownVersion}`, "--version", "print the version")
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        terminal.out(text);
      },
      writeErr: (text) => {
        terminal.note(text);
      },
      outputError: (text) => {
        terminal.failure(withFluxHint(text.replace(/^error: /, "").trimEnd()));
      },
    });
  addGetCommands(root, surroundings);
  addReconcileCommands(root, surroundings);
  addSuspendCommands(root, surroundings);
  addPushCommand(root, surroundings);
  root
    .command("events")
    .description("show what has happened to Flux's kinds")
    .option("-A, --all-namespaces", "of all namespaces")
    .option("-w, --watch", "go on showing what happens")
    .option("--for <kind[/name]>", "of one kind or one object, and of its source")
    .option("--types <types>", "of these types: Normal, Warning", commaSeparated)
    .action(async (_: unknown, command: Command) => {
      const [{ showEvents }, { withCluster }] = await Promise.all([
        import("./show-events.ts"),
        import("./settings.ts"),
      ]);
      const options = command.optsWithGlobals<EventsOptions & GlobalOptions>();
      await withCluster(options, surroundings, (session) => showEvents(options, session));
    });
  root
    .command("version")
    .description("print the version")
    .option("--client", "accepted for the sake of scripts; Sluice has no other version")
    .option("-o, --output <format>", "yaml or json", "yaml")
    .action(async ({ output }: { output: string }) => {
      const { printVersion } = await import("./print-version.ts");
      printVersion(output, terminal);
    });
  root
    .command("settings")
    .description("print the settings of an installation, and where each comes from")
    .option("--config <file>", "the file that they are read from; without it the defaults")
    .action(async ({ config }: { config?: string }) => {
      const [{ printSettings }, { readSettingsFile }] = await Promise.all([
        import("../functions/settings/print-settings.ts"),
        import("../local/read-settings-file.ts"),
      ]);
      terminal.out(printSettings(await readSettingsFile(config), config));
    });
  addCheckCommand(root, surroundings);
  addLocalCommand(root, surroundings);
  addTakeOverCommand(root, surroundings);
  return root;
}

function commaSeparated(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(",")];
}
