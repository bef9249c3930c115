/**
 * Where a command writes: tables and other results to stdout, its progress to stderr. It makes every text printable, so that
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
    err(`${icon} ${printable(text)}\n`);
  };
  return {
    ...screen,
    out: (text) => {
      out(printable(text));
    },
    document: out,
    note: (text) => {
      err(printable(text));
    },
    action: line("►"),
    generating: line("✚"),
    waiting: line("◎"),
    success: line("✔"),
    warning: line("⚠️"),
    failure: line("✗"),
  };
}

/**
 * A text from a cluster, a registry or a file that is safe on a terminal: without escape sequences, control characters other
 * than tab and line feed, and characters that change the direction of text. Otherwise a name or message could clear the
 * screen, overwrite lines or look like other output.
 */
export function printable(text: string): string {
  return text.replaceAll(unprintable, "");
}

/**
 * `ESC [ … letter`; `ESC ] … BEL` and similar sequences if they end in the same line, since an open one must hide nothing; then
 * all other control characters, and the overrides and isolates of direction. One pass, which cannot create a new sequence.
 */
const unprintable =
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)|\u001b[\]PX^_[]?|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
