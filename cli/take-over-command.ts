import { type Command, Option } from "commander";
import type { Installation } from "../lib/gate/cluster-owner.ts";
import type { GlobalOptions, Surroundings } from "./settings.ts";

interface TakeOverOptions extends GlobalOptions {
  readonly state: string;
  readonly installation?: string;
}

export function addTakeOverCommand(root: Command, surroundings: Surroundings): void {
  const command = root
    .command("take-over")
    .description(
      "give the cluster of the kubeconfig to another installation of Sluice, which alone writes to it from then on",
    )
    .option("--state <dir>", "the installation of this state folder of sluice local", ".sluice")
    .addOption(new Option("--installation <id>", "another installation, by the id in its log").conflicts("state"));
  command.action(async () => {
    const [{ giveCluster }, { withCluster }] = await Promise.all([
      import("./give-cluster.ts"),
      import("./settings.ts"),
    ]);
    const options = command.optsWithGlobals<TakeOverOptions>();
    const next = await installationOf(options);
    await withCluster(options, surroundings, (session) => giveCluster(next, session));
  });
}

async function installationOf({ state, installation }: TakeOverOptions): Promise<Installation> {
  const { ownVersion } = await import("../lib/core/own-version.ts");
  if (installation !== undefined) {
    const { maxOwnerFieldChars } = await import("../lib/gate/cluster-owner.ts");
    // No installation has any other id: with one that is empty or misquoted the cluster would have no owner that writes to it.
    if (!/^[\w.:/-]+$/.test(installation) || installation.length > maxOwnerFieldChars) {
      const example = "123456789012/eu-west-1/sluice";
      throw new Error(
        `--installation must be an id as its log has it, such as ${example}, of at most ${maxOwnerFieldChars} characters`,
      );
    }
    return { id: installation, version: ownVersion };
  }
  const [{ stateInstallation }, { identityOf }] = await Promise.all([
    import("../local/own-installation.ts"),
    import("../local/state-folder.ts"),
  ]);
  return stateInstallation(await identityOf(state));
}
