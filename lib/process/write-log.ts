import { cutText } from "../core/cut-text.ts";
import { type Log, type LogFields } from "../core/ports/log.ts";
import { type Metrics } from "../core/ports/metrics.ts";
import { safeText } from "../core/safe-text.ts";

const levels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof levels)[number];

/** The longest text of one field. A line of CloudWatch holds 256 KiB, and the status of the object has the whole text. */
export const maxLoggedBytes = 16_384;

/** A log that writes one JSON line for each entry of at least the level `least`, made safe by {@link safeText}. */
export function writeLog(write: (line: string) => void, least: LogLevel): Log {
  const line =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (levels.indexOf(level) < levels.indexOf(least)) return;
      const entry = { time: new Date().toISOString(), level, message, ...fields };
      write(`${safeText(JSON.stringify(entry, cut))}\n`);
    };
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}

function cut(_name: string, value: unknown): unknown {
  return typeof value === "string" ? cutText(value, maxLoggedBytes) : value;
}

/** Metrics as log lines of level debug, for an installation that has no metrics service. */
export function logMetrics(log: Log): Metrics {
  return {
    record: (about, measures, properties) => log.debug("measured", { key: about, ...properties, ...measures }),
  };
}
