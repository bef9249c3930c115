import type { Command } from "commander";
import type { RedriveOptions } from "./redrive.ts";
import type { Surroundings } from "./session.ts";

/** `redrive` speaks to SQS and STS, and to no cluster. */
export function addRedriveCommand(root: Command, { terminal, signal }: Surroundings): void {
  const command = root
    .command("redrive <hints|undelivered|wake-ups|notifications>")
    .description("move the messages of a dead-letter queue back; the outputs of the stack have the whole command")
    .requiredOption("--role <arn>", "role of the stack that may move them; you need sts:AssumeRole on it")
    .requiredOption("--from <url>", "URL of the dead-letter queue")
    .option("--to <url>", "URL of the queue to move them to (default: the queue each came from)")
    .option("--dry-run", "only show what waits there and what would become of it")
    .option("--limit <number>", "the most messages", "1000");
  command.action(async (what: string) => {
    const { redrive } = await import("./redrive.ts");
    await redrive(what, command.optsWithGlobals<RedriveOptions>(), { terminal, signal });
  });
}
