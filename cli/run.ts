import { CommanderError } from "commander";
import type { KindDeclaration } from "../lib/api/kinds/declaration.ts";
import { declaredKinds } from "../lib/api/kinds/declared-kinds.ts";
import { messageOf } from "../lib/core/failure.ts";
import { ApiError } from "../lib/core/ports/cluster.ts";
import { fromGoFlags } from "./go-flags.ts";
import { EndsWith } from "./exit-code.ts";
import { program } from "./program.ts";
import type { Surroundings } from "./session.ts";

/** Runs one command and answers its exit code: 0, or 1 after one line that says what went wrong, or that of an {@link EndsWith}. */
export async function run(
  args: readonly string[],
  surroundings: Surroundings,
  kinds: readonly KindDeclaration[] = declaredKinds,
): Promise<number> {
  const { terminal } = surroundings;
  try {
    const root = program(surroundings, kinds);
    await root.parseAsync(fromGoFlags(args, root), { from: "user" });
    return 0;
  } catch (error) {
    // Commander has printed its message; showing the help of a group of commands is not a failure.
    if (error instanceof CommanderError) return error.code === "commander.help" ? 0 : error.exitCode;
    if (error instanceof EndsWith) {
      if (error.cause !== undefined) terminal.failure(explained(error.cause));
      return error.code;
    }
    terminal.failure(explained(error));
    return 1;
  }
}

function explained(error: unknown): string {
  if (!(error instanceof ApiError)) return messageOf(error);
  if (error.reason === "NoMatch")
    return `${error.message}: Sluice's custom resource definitions are not installed; sluice local installs them`;
  return error.message;
}
