import { type Command, Option } from "commander";
import type { KindDeclaration } from "../lib/api/kinds/declaration.ts";
import type { CheckOptions } from "./check-cluster.ts";
import type { GlobalOptions, Surroundings } from "./session.ts";
import type { TakeOverOptions } from "./take-over.ts";
import type { UninstallOptions } from "./uninstall-cluster.ts";

/** Chooses the cluster by its own name instead of by a context: people of AWS know its ARN. */
const clusterOption = (): Option =>
  new Option("--cluster <arn-or-name>", "cluster of the kubeconfig, by its ARN or name, instead of --context");

/** The commands about a whole cluster. */
export function addClusterCommands(root: Command, kinds: readonly KindDeclaration[], surroundings: Surroundings): void {
  addCheckCommand(root, kinds, surroundings);
  addTakeOverCommand(root, surroundings);
  addPauseCommand(root, surroundings);
  addUninstallCommand(root, kinds, surroundings);
}

function addCheckCommand(root: Command, kinds: readonly KindDeclaration[], surroundings: Surroundings): void {
  const command = root
    .command("check")
    .description(
      "check the cluster: its version, Sluice's kinds, the rights of this identity, owner and pause; with --orphans, also list objects in no inventory",
    )
    .addOption(clusterOption())
    .option("--orphans", "list applied objects that are in no inventory; deletes nothing")
    .addOption(
      new Option(
        "--migration",
        "say whether what Flux and Flagger manage here can move to Sluice, and what to prepare; writes nothing",
      ).conflicts(["orphans", "state"]),
    )
    .option(
      "--state <dir>",
      "state folder of the sluice local that owns the cluster (default: .sluice, if it owns the cluster)",
    )
    .option("-o, --output <format>", "table, json or yaml", "table");
  command.action(async () => {
    const options = command.optsWithGlobals<CheckOptions & GlobalOptions & { migration?: boolean }>();
    if (options.migration === true) {
      const { runMigrationCheck } = await import("./check-migration.ts");
      await runMigrationCheck(options, surroundings);
      return;
    }
    const { runCheck } = await import("./check-cluster.ts");
    await runCheck(kinds, options, surroundings);
  });
}

function addTakeOverCommand(root: Command, surroundings: Surroundings): void {
  const command = root
    .command("take-over")
    .description("make another installation of Sluice the owner of the cluster; only the owner writes to it")
    .option("--state <dir>", "the installation of this sluice local state folder", ".sluice")
    .addOption(
      new Option("--installation <id>", "the installation with this id, as its log prints it").conflicts("state"),
    );
  command.action(async () => {
    const { takeOverCluster } = await import("./take-over.ts");
    await takeOverCluster(command.optsWithGlobals<TakeOverOptions>(), surroundings);
  });
}

function addPauseCommand(root: Command, surroundings: Surroundings): void {
  const command = root
    .command("pause")
    .description("stop all writes of Sluice to the cluster, until sluice resume")
    .addOption(clusterOption())
    .option("--by <name>", "who pauses, shown to users who ask why nothing happens (default: user@host)");
  command.action(async () => {
    const [{ pauseWrites }, { withCluster }] = await Promise.all([
      import("./pause-cluster.ts"),
      import("./session.ts"),
    ]);
    const { by, ...options } = command.optsWithGlobals<GlobalOptions & { by?: string }>();
    await withCluster(options, surroundings, (session) => pauseWrites(by, session));
  });
}

function addUninstallCommand(root: Command, kinds: readonly KindDeclaration[], surroundings: Surroundings): void {
  const command = root
    .command("uninstall")
    .description("remove Sluice's definitions, objects and rights from the cluster; what it has applied stays")
    .addOption(clusterOption())
    .option("--dry-run", "only print what would be removed")
    .option("-s, --silent", "do not ask for confirmation")
    .option("--yes", "the same as --silent")
    .option("--keep-crds", "keep the definitions and their objects, which only lose Sluice's finalizer")
    .option("--keep-namespace", "accepted for scripts; no namespace is removed");
  command.action(async () => {
    const [{ uninstallCluster }, { withCluster }] = await Promise.all([
      import("./uninstall-cluster.ts"),
      import("./session.ts"),
    ]);
    const options = command.optsWithGlobals<UninstallOptions & GlobalOptions>();
    await withCluster(options, surroundings, (session) => uninstallCluster(kinds, options, session));
  });
}

/** `resume` without a kind resumes the cluster. The kinds are commands of their own below it. */
export function onResumeCluster(resume: Command, surroundings: Surroundings): void {
  resume.addOption(clusterOption()).allowExcessArguments();
  resume.action(async () => {
    const [unknown] = resume.args;
    if (unknown !== undefined)
      resume.error(`error: unknown command '${unknown}'`, { code: "commander.unknownCommand" });
    const [{ resumeWrites }, { withCluster }] = await Promise.all([
      import("./pause-cluster.ts"),
      import("./session.ts"),
    ]);
    await withCluster(resume.optsWithGlobals<GlobalOptions>(), surroundings, resumeWrites);
  });
}
