import type { Command, Option } from "commander";
import type { KindDeclaration } from "../lib/api/kinds/declaration.ts";
import { declaredHelmRelease } from "../lib/api/kinds/helm-release.ts";

/** What may stand where the cursor is. */
export type Completion =
  | { readonly kind: "words"; readonly words: readonly CompletedWord[] }
  /** A file or folder: the shell knows those. */
  | { readonly kind: "files" }
  /** The name of an object, of the cluster and namespace that the line so far chooses. */
  | { readonly kind: "objects"; readonly of: KindDeclaration; readonly line: ChosenOptions };

/** A word, and what it means. */
export interface CompletedWord {
  readonly word: string;
  readonly description: string;
}

/** Values of the options of a line by their long names: `--namespace`. */
export type ChosenOptions = ReadonlyMap<string, string>;

/** What has been read of a line up to the cursor. */
interface Line {
  readonly command: Command;
  /** Words that are neither commands nor options. */
  readonly operands: readonly string[];
  readonly options: ChosenOptions;
  /** The option whose value is at the cursor. */
  readonly pending: Option | undefined;
}

/**
 * What completes the last of these words, which may be empty; the others stand before it, after `sluice`. The words may be those of
 * bash, which also splits them at `=` and `:`. Pure: it knows the commands and their options, not the cluster.
 */
export function complete(root: Command, words: readonly string[], kinds: readonly KindDeclaration[]): Completion {
  const whole = withoutBreaks(words);
  const last = whole.at(-1) ?? "";
  const line = readLine(root, whole.slice(0, -1));
  if (line.pending !== undefined) return valueOf(line.pending, last);
  if (last.startsWith("-")) return startingWith(last, optionsOf(line.command).flatMap(optionWord));
  const commands = line.operands.length === 0 ? subcommandsOf(line.command) : [];
  if (commands.length > 0) return startingWith(last, commands);
  return operandOf(line, last, kinds);
}

const nothing: Completion = { kind: "words", words: [] };

/**
 * The words of a line, also where bash has split it as its COMP_WORDBREAKS says: `--context=a:b` arrives as `--context`, `=`, `a`,
 * `:`, `b` and is answered as `--context`, `a:b`. The last word is then empty if the cursor is behind an option's `=`.
 */
function withoutBreaks(words: readonly string[]): readonly string[] {
  const whole: string[] = [];
  let joins = false;
  for (const [at, word] of words.entries()) {
    const before = whole.at(-1);
    const isBreak = /^[:=]+$/.test(word);
    if (before === undefined || !(isBreak || joins)) whole.push(word);
    else if (!before.startsWith("-")) whole[whole.length - 1] = before + word;
    else if (!isBreak || at === words.length - 1) whole.push(isBreak ? "" : word);
    joins = isBreak && !before?.startsWith("-");
  }
  return whole;
}

function readLine(root: Command, words: readonly string[]): Line {
  let command = root;
  let pending: Option | undefined;
  const operands: string[] = [];
  const options = new Map<string, string>();
  for (const word of words) {
    if (pending !== undefined) {
      options.set(pending.long ?? "", word);
      pending = undefined;
    } else if (word.startsWith("-")) {
      const [name = "", value] = word.split("=", 2);
      const option = optionsOf(command).find(({ long, short }) => long === name || short === name);
      if (option === undefined || !takesValue(option)) continue;
      if (value === undefined) pending = option;
      else options.set(option.long ?? "", value);
    } else {
      const next = operands.length === 0 ? childOf(command, word) : undefined;
      if (next === undefined) operands.push(word);
      else command = next;
    }
  }
  return { command, operands, options, pending };
}

function childOf(command: Command, word: string): Command | undefined {
  return command.commands.find((each) => each.name() === word || each.aliases().includes(word));
}

/** The options that a command takes: its own, and those of the commands above it. */
function optionsOf(command: Command): readonly Option[] {
  const above = command.parent === null ? [] : optionsOf(command.parent);
  return [...command.createHelp().visibleOptions(command), ...above];
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

function optionWord({ long, description }: Option): readonly CompletedWord[] {
  return typeof long === "string" ? [{ word: long, description }] : [];
}

function subcommandsOf(command: Command): readonly CompletedWord[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((each) => ({ word: each.name(), description: each.description() }));
}

function startingWith(start: string, words: readonly CompletedWord[]): Completion {
  const [...unique] = new Map(words.map((each) => [each.word, each])).values();
  return { kind: "words", words: unique.filter(({ word }) => word.startsWith(start)) };
}

/** Placeholders of options and arguments that name something on this machine. */
const filePlaceholder = /<(?:file|path|dir|folder)>|^(?:path|folder)$/;

function valueOf({ argChoices, flags }: Option, start: string): Completion {
  if (argChoices !== undefined) return startingWith(start, argChoices.map(withoutDescription));
  return filePlaceholder.test(flags) ? { kind: "files" } : nothing;
}

function withoutDescription(word: string): CompletedWord {
  return { word, description: "" };
}

function operandOf({ command, operands, options }: Line, start: string, kinds: readonly KindDeclaration[]): Completion {
  const all = command.registeredArguments;
  const argument = all[operands.length] ?? all.find(({ variadic }) => variadic);
  if (argument === undefined) return nothing;
  if (argument.argChoices !== undefined) return startingWith(start, argument.argChoices.map(withoutDescription));
  if (filePlaceholder.test(argument.name())) return { kind: "files" };
  const of = kindAt(command, argument.name(), kinds);
  return of === undefined ? nothing : { kind: "objects", of, line: options };
}

/** Arguments that name an object whose kind the command does not say, by the kind's name. */
const kindsOfArguments: Readonly<Record<string, string>> = { policy: "ImagePolicy", provider: "Provider" };

/** The kind of the objects that an argument names; undefined for a new name, and for an argument that names no object. */
function kindAt(command: Command, argument: string, kinds: readonly KindDeclaration[]): KindDeclaration | undefined {
  const { parent } = command;
  const byArgument = kindsOfArguments[argument];
  if (byArgument !== undefined) return kinds.find(({ kind }) => kind === byArgument);
  if (!/^names?$/.test(argument) || parent === null || pathOf(command).includes("create")) return undefined;
  if (command.name() === "values") return declaredHelmRelease;
  const group = parent.name().replace(/s$/, "");
  return kinds.find(
    ({ isSource, words: { one, many, parent: above } }) =>
      [one, many].includes(command.name()) && (isSource ? group === "source" : above === undefined || above === group),
  );
}

function pathOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()];
}
