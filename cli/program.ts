import { Command, Option } from "commander";
import type { KindDeclaration } from "../lib/api/kinds/declaration.ts";
import { readByCanaries, readKinds } from "../lib/api/kinds/declared-kinds.ts";
import { ownVersion } from "../lib/core/own-version.ts";
import { addBootstrapCommands } from "./bootstrap-commands.ts";
import { addCanaryCommands } from "./canary-commands.ts";
import { addClusterCommands } from "./cluster-commands.ts";
import { addCompletionCommands } from "./completion-command.ts";
import { addCreateCommands } from "./create-commands.ts";
import type { DiffOptions } from "./diff-helm-release.ts";
import { addImageCommand, addWhyCommand } from "./image-command.ts";
import type { InitOptions } from "./init-app.ts";
import { commaSeparated, listed } from "./listed-values.ts";
import { addLocalCommand } from "./local-command.ts";
import { addNotifyCommand } from "./notify-command.ts";
import {
  addDeleteCommands,
  addExportCommands,
  addGetCommands,
  addReconcileCommands,
  addSuspendCommands,
} from "./object-commands.ts";
import type { PushOptions } from "./push-artifact.ts";
import { addRedriveCommand } from "./redrive-command.ts";
import type { GlobalOptions, Surroundings } from "./session.ts";
import type { EventsOptions } from "./show-events.ts";
import type { Terminal } from "./terminal.ts";
import { addWordsOfOthers } from "./words-of-others.ts";

/** The whole command line. Actions import what they need when they run, so that `--help` starts fast. */
export function program(surroundings: Surroundings, kinds: readonly KindDeclaration[]): Command {
  const { terminal } = surroundings;
  const root = new Command("sluice")
    .description("GitOps for Amazon EKS with no controllers to run")
    .option("-n, --namespace <namespace>", "namespace of the objects (default: flux-system, or $FLUX_SYSTEM_NAMESPACE)")
    .option("--ns-follows-kube-context", "use the namespace of the kubeconfig's context instead")
    .option(
      "--kubeconfig <file>",
      "kubeconfig to use (default: $KUBECONFIG, then ~/.kube/config, then that of sluice local in this folder)",
      listed,
    )
    .option("--context <name>", "context of the kubeconfig to use", listed)
    .option("--timeout <duration>", "time limit of the whole command (default: 5m, none with --watch)")
    .addOption(new Option("--verbose", "accepted for scripts around flux").hideHelp())
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
        terminal.failure(text.replace(/^error: /, "").trimEnd());
      },
    });
  root.hook("preAction", (_root, command) => {
    if (command.name() !== "local") chooseOneCluster(root);
  });
  // MetricTemplates and AlertProviders are not reconciled, so there is nothing to reconcile or suspend.
  const kept = [...kinds, ...readByCanaries];
  const shown = [...kinds, ...readKinds];
  addGetCommands(root, shown, surroundings);
  addReconcileCommands(root, kinds, surroundings);
  addSuspendCommands(root, kinds, surroundings);
  addExportCommands(root, shown, surroundings);
  addCreateCommands(root, surroundings);
  addDeleteCommands(root, kept, surroundings);
  addBootstrapCommands(root, surroundings);
  addPushCommand(root, surroundings);
  addEventsCommand(root, kinds, surroundings);
  addClusterCommands(root, kinds, surroundings);
  addDiffCommand(root, surroundings);
  addNotifyCommand(root, surroundings);
  addImageCommand(root, surroundings);
  addCanaryCommands(root, surroundings);
  addWhyCommand(root, surroundings);
  addRedriveCommand(root, surroundings);
  addLocalCommand(root, surroundings);
  addInitCommand(root, surroundings);
  addSettingsCommand(root, terminal);
  addVersionCommand(root, terminal);
  addCompletionCommands(root, kept, surroundings);
  addWordsOfOthers(root);
  return root;
}

/** Only `sluice local` works on several clusters. kubectl takes the last one, which with us could be the wrong one to write to. */
function chooseOneCluster(root: Command): void {
  for (const name of ["kubeconfig", "context"] as const) {
    const given = root.opts<Partial<Record<string, readonly string[]>>>()[name] ?? [];
    if (given.length > 1)
      throw new Error(`--${name} is given ${given.length} times: this command works on one cluster`);
    if (given.length === 1) root.setOptionValue(name, given[0]);
  }
}

function addPushCommand(root: Command, surroundings: Surroundings): void {
  const push = root.command("push").description("push to a registry");
  const artifact = push
    .command("artifact [url]")
    .description("pack a folder and push it to oci://HOST/REPOSITORY:TAG; the same input gets the same digest")
    .option("-f, --path <path>", "folder or file to push, - for standard input")
    .option("--source <url>", "origin of the content, for example the git URL")
    .option("--revision <revision>", "revision of the origin, for example main@sha1:<commit>")
    .option("--creds <user:password>", "credentials of the registry (default: those of docker login)")
    .option("-a, --annotations <key=value>", "annotation of the artifact; can be given several times", listed)
    .option(
      "--ignore-paths <patterns>",
      "patterns of files to leave out, instead of the default patterns",
      commaSeparated,
    )
    .option("--add-ignore-paths <patterns>", "patterns of more files to leave out", commaSeparated)
    .option("--resolve-symlinks", "pack the targets of symbolic links; without it, links are left out")
    .option("--insecure-registry", "allow plain HTTP")
    .option("--insecure", "the same as --insecure-registry")
    .option("--reproducible", "accepted for scripts; every artifact is reproducible")
    .option(
      "--allow-empty",
      "push even if nothing in it would be applied; Kustomizations that follow it then prune all",
    )
    .option("-o, --output <format>", "print the result as json or yaml");
  artifact.action(async (url: string | undefined) => {
    const { pushArtifact } = await import("./push-artifact.ts");
    await pushArtifact(url, artifact.optsWithGlobals<PushOptions>(), surroundings);
  });
}

function addDiffCommand(root: Command, surroundings: Surroundings): void {
  const diff = root.command("diff").description("show what a change would do to the cluster, and write nothing");
  const release = diff
    .command("helmrelease [name]")
    .alias("hr")
    .description("render a chart of this machine as the HelmRelease says, and compare it with the cluster by dry runs")
    .requiredOption("--chart <path>", "folder of the chart, or a packed chart");
  release.action(async (name: string | undefined) => {
    if (name === undefined) throw new Error("HelmRelease name is required");
    const [{ diffHelmRelease }, { withCluster }, { helmModule, wasmHelm }] = await Promise.all([
      import("./diff-helm-release.ts"),
      import("./session.ts"),
      import("../lib/engine/wasm-helm.ts"),
    ]);
    const options = release.optsWithGlobals<DiffOptions & GlobalOptions>();
    const helm = wasmHelm({ file: helmModule, threads: 1, idleMs: 60_000 });
    try {
      await withCluster(options, surroundings, (session) => diffHelmRelease(name, options, session, helm));
    } finally {
      await helm.close();
    }
  });
}

function addEventsCommand(root: Command, kinds: readonly KindDeclaration[], surroundings: Surroundings): void {
  root
    .command("events")
    .description("show events of Flux's kinds")
    .option("-A, --all-namespaces", "show events of all namespaces")
    .option("-w, --watch", "keep watching and print new events")
    .addOption(new Option("-o, --output <format>", "do not cut messages to the terminal's width").choices(["wide"]))
    .option(
      "--for <kind[/name]>",
      "only events of this kind or object, and of its source; ks/apps is Kustomization/apps",
    )
    .option("--types <types>", "only events of these types: Normal, Warning", commaSeparated)
    .action(async (_: unknown, command: Command) => {
      const [{ showEvents }, { withCluster }] = await Promise.all([import("./show-events.ts"), import("./session.ts")]);
      const options = command.optsWithGlobals<EventsOptions & GlobalOptions>();
      await withCluster(options, surroundings, (session) => showEvents(kinds, options, session));
    });
}

function addInitCommand(root: Command, surroundings: Surroundings): void {
  const command = root
    .command("init [folder]")
    .description("write a small CDK app with a Sluice into an empty folder")
    .option("--cluster <arn>", "EKS cluster to look after; can be given several times", listed)
    .option(
      "--repository <arn-or-name>",
      "ECR repository to follow, by ARN, or the name of a new one; can be given several times",
      listed,
    )
    .option("--email <address>", "who gets the alarms; can be given several times", listed);
  command.action(async (folder: string | undefined) => {
    const { initApp } = await import("./init-app.ts");
    await initApp(folder ?? ".", command.opts<InitOptions>(), surroundings);
  });
}

function addSettingsCommand(root: Command, terminal: Terminal): void {
  root
    .command("settings")
    .description("print the settings of an installation and where each comes from")
    .option("--config <file>", "read this settings file (default: no file, all defaults)")
    .action(async ({ config }: { config?: string }) => {
      const [{ printSettings }, { readSettingsFile }] = await Promise.all([
        import("../functions/settings/print-settings.ts"),
        import("../local/read-settings-file.ts"),
      ]);
      terminal.out(printSettings(await readSettingsFile(config), config));
    });
}

function addVersionCommand(root: Command, terminal: Terminal): void {
  root
    .command("version")
    .description("print the version")
    .option("--client", "accepted for scripts; there is no other version")
    .option("-o, --output <format>", "yaml or json", "yaml")
    .action(({ output }: { output: string }) => {
      printVersion(output, terminal);
    });
}

/** `version`: Sluice has no controllers in the cluster, so the command's own version is all there is. */
function printVersion(output: string, terminal: Terminal): void {
  const version = `v${ownVersion}`;
  if (output === "yaml") terminal.document(`sluice: ${version}\n`);
  else if (output === "json") terminal.document(`${JSON.stringify({ sluice: version }, undefined, 2)}\n`);
  else throw new Error(`--output must be json or yaml, not ${output}`);
}
