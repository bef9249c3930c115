import type { Command } from "commander";

/**
 * The arguments as commander reads them, for those that only Go's flags have and scripts around flux write: `--wait=true` and
 * `--wait=false` are `--wait`, and nothing, or `--no-wait` where the option is on by default; `-A=true` is `-A`; `-n=apps` is `-n apps`. An
 * option with a long name that takes a value is left as it is.
 */
export function fromGoFlags(args: readonly string[], root: Command): string[] {
  const options = commandsOf(root).flatMap((command) => command.options);
  const valued = new Set(
    options.filter(({ required, optional }) => required || optional).flatMap(({ long, short }) => [long, short]),
  );
  const known = new Set(options.flatMap(({ long, short }) => [long, short]));
  const end = args.indexOf("--");
  return args.flatMap((arg, at) => {
    if (end !== -1 && at > end) return [arg];
    const [, short, text] = /^(-[a-zA-Z])=(.*)$/s.exec(arg) ?? [];
    if (short !== undefined && text !== undefined && valued.has(short)) return [short, text];
    const [, option, value] = /^(--[a-z][a-z-]*|-[a-zA-Z])=(true|false)$/.exec(arg) ?? [];
    if (option === undefined || !known.has(option) || valued.has(option)) return [arg];
    if (value === "true") return [option];
    const negated = option.replace(/^--/, "--no-");
    return negated !== option && known.has(negated) ? [negated] : [];
  });
}

function commandsOf(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(commandsOf)];
}
