import { printable } from "./printable.ts";

/**
 * Where a command writes: tables and other results on stdout, everything about its progress on stderr. What is written is
 * made printable here, so that no command has to.
 */
export interface Terminal {
  /** Text of the result. */
  out(text: string): void;
  /** A result for programs, in JSON or YAML, as it is. */
  document(text: string): void;
  /** Text for people: help after a mistake. */
  note(text: string): void;
  action(line: string): void;
  waiting(line: string): void;
  success(line: string): void;
  warning(line: string): void;
  failure(line: string): void;
}

type Write = (text: string) => void;

/** The icons are those of flux, so that scripts and eyes find them where they were. */
export function terminal(out: Write, err: Write): Terminal {
  const line = (icon: string) => (text: string) => {
    err(`${icon} ${printable(text)}\n`);
  };
  return {
    out: (text) => {
      out(printable(text));
    },
    document: out,
    note: (text) => {
      err(printable(text));
    },
    action: line("►"),
    waiting: line("◎"),
    success: line("✔"),
    warning: line("⚠️"),
    failure: line("✗"),
  };
}
