import { cutText } from "../lib/core/cut-text.ts";
import { isJsonObject } from "../lib/core/json.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Log, LogFields } from "../lib/core/ports/log.ts";
import { safeText } from "../lib/core/safe-text.ts";
import { type LogLevel, maxLoggedBytes } from "../lib/process/write-log.ts";

const marks = { debug: "", info: "", warn: "⚠️ ", error: "✗ " } as const satisfies Record<LogLevel, string>;
/** Fields with the reason of a message: they come last, without their name. */
const reasons: ReadonlySet<string> = new Set(["error", "reason"]);

/** A log for a person at a terminal: `09:05:07 reconcile finished Kustomization/apps/web outcome=applied`, in local time. */
export function humanLog(
  write: (line: string) => void,
  { least, clock }: { readonly least: "debug" | "info"; readonly clock: Pick<Clock, "now"> },
): Log {
  const line =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (level === "debug" && least === "info") return;
      const time = new Date(clock.now()).toTimeString().slice(0, 8);
      write(`${safeText(`${time} ${marks[level]}${message}${fieldsText(fields)}`)}\n`);
    };
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}

function fieldsText(fields: LogFields): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const plain = given.filter(([name]) => !reasons.has(name)).map(([name, value]) => ` ${fieldText(name, value)}`);
  const why = given.filter(([name]) => reasons.has(name)).map(([, value]) => `: ${oneLine(String(value))}`);
  return [...plain, ...why].join("");
}

function fieldText(name: string, value: unknown): string {
  if (name === "key" && isJsonObject(value)) {
    const parts = [value["kind"], value["namespace"], value["name"]];
    return parts.filter((part): part is string => typeof part === "string" && part !== "").join("/");
  }
  if (typeof value === "number") return `${name}=${Math.round(value)}`;
  const isPlain = typeof value === "string" && /^\S+$/.test(value);
  return `${name}=${oneLine(isPlain ? value : JSON.stringify(value))}`;
}

function oneLine(text: string): string {
  return cutText(text.trim().replaceAll(/\s+/g, " "), maxLoggedBytes);
}

const groupedMs = 20;

export interface GroupedLines {
  readonly write: (line: string) => void;
  /** Writes all waiting lines now. */
  readonly flush: () => void;
}

/**
 * Writes lines that come shortly after one another together: a write for each line wakes its reader each time, which costs a
 * run of a few objects a tenth of its time. A process that is killed loses the lines of its last 20 ms.
 */
export function groupedLines(write: (text: string) => void): GroupedLines {
  let lines = "";
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const text = lines;
    lines = "";
    if (text !== "") write(text);
  };
  return {
    write(line) {
      lines += line;
      timer ??= setTimeout(flush, groupedMs);
    },
    flush,
  };
}
