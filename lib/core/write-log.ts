import { cutText } from "./cut-text.ts";
import type { Log, LogFields } from "./ports/log.ts";

const levels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof levels)[number];

/** Of each text in a line: a status has the whole, and a line of CloudWatch holds 256 KiB. */
export const maxLoggedBytes = 16_384;

/** A log of one JSON line each, for lines of at least this level. */
export function writeLog(write: (line: string) => void, least: LogLevel): Log {
  const line =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (levels.indexOf(level) < levels.indexOf(least)) return;
      write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields }, cut)}\n`);
    };
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}

function cut(_name: string, value: unknown): unknown {
  return typeof value === "string" ? cutText(value, maxLoggedBytes) : value;
}
