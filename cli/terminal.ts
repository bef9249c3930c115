import { safeText } from "../lib/core/safe-text.ts";
import { type Colour, coloured, type Look } from "./looks.ts";

/**
 * Where a command writes: tables and other results to stdout, its progress to stderr. It makes every text safe, so that
 * no command has to.
 */
export interface Terminal {
  /** Text of the result; on a screen with colours it has this look. */
  out(text: string, look?: Look): void;
  /** Characters in a line of the screen that `out` writes to; undefined for a pipe or a file. */
  columns(): number | undefined;
  /** Whether the progress goes to a screen, where a person reads it. */
  readonly isScreen: boolean;
  /** Asks the user a yes-or-no question; undefined if the command does not run on a terminal. */
  readonly confirm: ((question: string) => Promise<boolean>) | undefined;
  /** A result for programs, in JSON or YAML, as it is. */
  document(text: string): void;
  /** Text for people: help after a mistake. */
  note(text: string): void;
  action(line: string): void;
  generating(line: string): void;
  waiting(line: string): void;
  success(line: string): void;
  warning(line: string): void;
  failure(line: string): void;
}

type Write = (text: string) => void;
/** What a process knows about the terminal that it runs on. */
export interface Screen extends Pick<Terminal, "columns" | "isScreen" | "confirm"> {
  /** Which of the two streams gets colours; absent for none. */
  readonly colours?: { readonly out: boolean; readonly err: boolean };
}

const noScreen: Screen = { columns: () => undefined, isScreen: false, confirm: undefined };

/** The icons are those of flux, which scripts and users know. */
export function terminal(out: Write, err: Write, screen: Screen = noScreen): Terminal {
  const { colours = { out: false, err: false }, ...rest } = screen;
  const line = (icon: string, colour: Colour) => {
    const shown = colours.err ? coloured(colour, icon) : icon;
    return (text: string) => {
      err(`${shown} ${safeText(text)}\n`);
    };
  };
  return {
    ...rest,
    out: (text, look = (safe) => safe) => {
      const safe = safeText(text);
      out(colours.out ? look(safe) : safe);
    },
    document: out,
    note: (text) => {
      err(safeText(text));
    },
    action: line("►", "cyan"),
    generating: line("✚", "cyan"),
    waiting: line("◎", "cyan"),
    success: line("✔", "green"),
    warning: line("⚠️", "yellow"),
    failure: line("✗", "red"),
  };
}
