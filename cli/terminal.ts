import { safeText } from "../lib/core/safe-text.ts";

/**
 * Where a command writes: tables and other results to stdout, its progress to stderr. It makes every text safe, so that
 * no command has to.
 */
export interface Terminal {
  /** Text of the result. */
  out(text: string): void;
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
export type Screen = Pick<Terminal, "columns" | "isScreen" | "confirm">;

const noScreen: Screen = { columns: () => undefined, isScreen: false, confirm: undefined };

/** The icons are those of flux, which scripts and users know. */
export function terminal(out: Write, err: Write, screen: Screen = noScreen): Terminal {
  const line = (icon: string) => (text: string) => {
    err(`${icon} ${safeText(text)}\n`);
  };
  return {
    ...screen,
    out: (text) => {
      out(safeText(text));
    },
    document: out,
    note: (text) => {
      err(safeText(text));
    },
    action: line("►"),
    generating: line("✚"),
    waiting: line("◎"),
    success: line("✔"),
    warning: line("⚠️"),
    failure: line("✗"),
  };
}
