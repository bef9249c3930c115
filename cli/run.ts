import { CommanderError } from "commander";
import { messageOf } from "../lib/core/failure.ts";
import { ApiError } from "../lib/core/ports/cluster.ts";
import { program } from "./program.ts";
import type { Surroundings } from "./settings.ts";

/** Runs one command and answers its exit code: 0, or 1 after one line that says what went wrong. */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { terminal } = surroundings;
  try {
    await program(surroundings).parseAsync([...args], { from: "user" });
    return 0;
  } catch (error) {
    // Commander has told what it has to tell; to show the help of a group of commands is no failure.
    if (error instanceof CommanderError) return error.code === "commander.help" ? 0 : error.exitCode;
    terminal.failure(explained(error));
    return 1;
  }
}

function explained(error: unknown): string {
  if (!(error instanceof ApiError)) return messageOf(error);
  if (error.reason === "NoMatch")
    return `${error.message}: install Sluice's custom resource definitions, sluice local does it`;
  return error.message;
}
