import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { expect, test } from "vitest";
import { deepSteps } from "../../checks/deep-steps.ts";
import { chooseFaults } from "../../faults/choose-faults.ts";
import { faultsToTry } from "../../faults/fault.ts";
import { fileFaults } from "../../faults/files.ts";
import { readArguments } from "../../faults/read-arguments.ts";
import { partNames } from "../../real/part.ts";
import { commandsOf, shellBlocks } from "./shell-commands.ts";

const root = join(import.meta.dirname, "../../..");
const page = await readFile(join(root, "docs/maintainers/testing.md"), "utf8");
const allowPositionals = true;

/** The words that an `npm run SCRIPT` of the page passes on: what its script would refuse, or find nothing for. */
const refused: Readonly<Record<string, (args: string[]) => readonly string[]>> = {
  deep(args) {
    const { positionals } = parseArgs({ args, allowPositionals, options: { list: { type: "boolean" } } });
    return positionals.filter((name) => !deepSteps.some((step) => step.name === name));
  },
  faults(args) {
    const asked = readArguments(args);
    if (asked === "help") return [];
    const isNamed = asked.files.length > 0 || asked.what !== undefined;
    const chosen = chooseFaults(faultsToTry(fileFaults), { ...asked, changed: new Set() });
    return isNamed && chosen.length === 0 ? args : [];
  },
  mutation(args) {
    const { positionals } = parseArgs({ args, allowPositionals, options: { force: { type: "boolean" } } });
    return positionals.filter((path) => !existsSync(join(root, path)));
  },
  real(args) {
    const options = { json: { type: "boolean" }, audit: { type: "boolean" } } as const;
    const [command = "", ...names] = parseArgs({ args, allowPositionals, options }).positionals;
    const parts: readonly string[] = partNames;
    const known = ["up", "status", "env", "down", "reset"].includes(command);
    return [...(known ? [] : [command]), ...names.filter((name) => !parts.includes(name))];
  },
  "test:times": (args) => args,
};

/** Of each `npm run`: the script, and what is passed on to it. */
const commands = shellBlocks(page)
  .flatMap((block) => commandsOf(block.replaceAll(/eval "\$\((.*)\)"/g, "$1")))
  .filter(([program]) => program === "npm")
  .map((words) => words.filter((word) => word !== "--silent").slice(2))
  .map(([script = "", ...args]) => ({ script, args: args.filter((word, at) => at > 0 || word !== "--") }));

test.each(commands)(
  "npm run $script, as the page about tests shows it, takes the arguments $args",
  ({ script, args }) => {
    expect(refused[script]?.(args)).toEqual([]);
  },
);
