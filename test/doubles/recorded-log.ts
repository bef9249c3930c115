import type { Log, LogFields } from "../../lib/core/ports/log.ts";

/** A log for tests: every line in order, and those of level info by themselves. */
export function recordedLog(): Log & { readonly lines: readonly LogFields[]; readonly infos: readonly LogFields[] } {
  const lines: LogFields[] = [];
  const infos: LogFields[] = [];
  const add = (message: string, fields: LogFields = {}): void => void lines.push({ message, ...fields });
  return {
    lines,
    infos,
    debug: add,
    info(message, fields) {
      add(message, fields);
      infos.push({ message, ...fields });
    },
    warn: add,
    error: add,
  };
}
