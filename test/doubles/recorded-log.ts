import type { Log, LogFields } from "../../lib/core/ports/log.ts";

interface RecordedLog extends Log {
  readonly lines: readonly LogFields[];
  readonly infos: readonly LogFields[];
  readonly errors: readonly LogFields[];
}

/** A log for tests: every line in order, and those of the levels info and error by themselves. */
export function recordedLog(): RecordedLog {
  const lines: LogFields[] = [];
  const infos: LogFields[] = [];
  const errors: LogFields[] = [];
  const add =
    (...to: LogFields[][]) =>
    (message: string, fields: LogFields = {}): void => {
      for (const list of [lines, ...to]) list.push({ message, ...fields });
    };
  return { lines, infos, errors, debug: add(), info: add(infos), warn: add(), error: add(errors) };
}
