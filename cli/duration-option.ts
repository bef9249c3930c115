import { formatDuration, parseDuration } from "../lib/core/duration.ts";

/** A duration as Go writes it. Throws an error that names the option. */
export function durationOf(text: string, option: string): string {
  try {
    return formatDuration(parseDuration(text));
  } catch (error) {
    throw new Error(`invalid argument "${text}" for "${option}" flag: write it like 30s, 5m or 1h`, { cause: error });
  }
}
