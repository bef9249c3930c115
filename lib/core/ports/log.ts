/** Named facts of one log line. A `Secret` among them prints as `[secret]`. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured log: a constant message and named fields, so that one query finds every case. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}
