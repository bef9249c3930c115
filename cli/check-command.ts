import type { Command } from "commander";
import type { CheckOptions } from "./check-cluster.ts";
import type { GlobalOptions, Surroundings } from "./settings.ts";

export function addCheckCommand(root: Command, surroundings: Surroundings): void {
  const command = root
    .command("check")
    .description(
      "check that a cluster serves Sluice's kinds and which installation owns it; with --orphans also list objects in no inventory",
    )
    .option("--orphans", "list what was applied and is in no inventory; nothing is deleted")
    .option(
      "--state <dir>",
      "state folder of the sluice local that the cluster belongs to (default: .sluice, if it is that)",
    )
    .option("-o, --output <format>", "print the orphans as table or json", "table");
  command.action(async () => {
    const [{ checkCluster }, { withCluster }] = await Promise.all([
      import("./check-cluster.ts"),
      import("./settings.ts"),
    ]);
    const options = command.optsWithGlobals<CheckOptions & GlobalOptions>();
    await withCluster(options, surroundings, (session) => checkCluster(options, session));
  });
}
