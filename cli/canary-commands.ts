import type { Command } from "commander";
import type { GlobalOptions, Surroundings } from "./session.ts";

/** What people decide about the run of a Canary. */
export function addCanaryCommands(root: Command, surroundings: Surroundings): void {
  const promote = root
    .command("promote")
    .description("approve a step that waits for it")
    .command("canary <name>")
    .description("open the confirm-… gate that the run of a Canary asks next; failed checks still count");
  promote.action(async (name: string) => {
    const [{ promoteCanary }, { withCluster }] = await Promise.all([
      import("./steer-canary.ts"),
      import("./session.ts"),
    ]);
    await withCluster(promote.optsWithGlobals<GlobalOptions>(), surroundings, (session) =>
      promoteCanary(name, session),
    );
  });
  const rollback = root
    .command("rollback")
    .description("end a release and go back")
    .command("canary <name>")
    .description(
      "end the run in flight of a Canary: all traffic goes to the primary, and its revision is not tried again",
    );
  rollback.action(async (name: string) => {
    const [{ rollBackCanary }, { withCluster }] = await Promise.all([
      import("./steer-canary.ts"),
      import("./session.ts"),
    ]);
    await withCluster(rollback.optsWithGlobals<GlobalOptions>(), surroundings, (session) =>
      rollBackCanary(name, session),
    );
  });
}
