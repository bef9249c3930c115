import type { Command } from "commander";
import { listed } from "./listed-values.ts";
import type { GlobalOptions, Surroundings } from "./session.ts";
import type { TestOptions } from "./test-provider.ts";

export function addNotifyCommand(root: Command, surroundings: Surroundings): void {
  const notify = root.command("notify").description("notifications: see also get alerts, get alert-providers");
  const command = notify
    .command("test [provider]")
    .description("send a test event to a Provider, from this machine and with your rights in the cluster")
    .option(
      "--metadata <key=value>",
      "metadata of the event: revision=main@sha1:COMMIT for the status of a commit, change_request=NUMBER for a comment; can be given several times",
      listed,
    );
  command.action(async (name: string | undefined) => {
    if (name === undefined) throw new Error("alert provider name is required");
    const [{ testProvider }, { withCluster }] = await Promise.all([
      import("./test-provider.ts"),
      import("./session.ts"),
    ]);
    const options = command.optsWithGlobals<TestOptions & GlobalOptions>();
    await withCluster(options, surroundings, (session) => testProvider(name, options, session));
  });
}
