import type { Command } from "commander";

/**
 * The arguments with `--wait=true` and `--wait=false` as commander reads them: `--wait`, and nothing, or `--no-wait` where the option is
 * on by default. Scripts around flux write them. An option that takes a value is left as it is.
 */
export function withoutBooleanValues(args: readonly string[], root: Command): string[] {
  const options = commandsOf(root).flatMap((command) => command.options);
  const valued = new Set(options.filter(({ required, optional }) => required || optional).map(({ long }) => long));
  const known = new Set(options.map(({ long }) => long));
  const end = args.indexOf("--");
  return args.flatMap((arg, at) => {
    const [, option, value] = /^(--[a-z][a-z-]*)=(true|false)$/.exec(arg) ?? [];
    if (option === undefined || (end !== -1 && at > end) || !known.has(option) || valued.has(option)) return [arg];
    if (value === "true") return [option];
    const negated = option.replace("--", "--no-");
    return known.has(negated) ? [negated] : [];
  });
}

function commandsOf(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(commandsOf)];
}
