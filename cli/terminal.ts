/** Where a command writes: tables and other results on stdout, everything about its progress on stderr. */
export interface Terminal {
  /** Text of the result, as it is. */
  out(text: string): void;
  /** Text for people, as it is: help after a mistake. */
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
    err(`${icon} ${text}\n`);
  };
  return {
    out,
    note: err,
    action: line("►"),
    waiting: line("◎"),
    success: line("✔"),
    warning: line("⚠️"),
    failure: line("✗"),
  };
}
