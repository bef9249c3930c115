/** The longest chain of templates that include each other in a circle, in parts of Helm's message. */
const maxPeriod = 64;
const separator = ": ";

/** Helm's message with how to mend what it names, where Sluice knows it. Helm's own text stays before it. Pure. */
export function withMend(message: string): string {
  const endless = /rendering template has a nested reference name: (.+): unable to execute template/.exec(message)?.[1];
  if (endless !== undefined) {
    // The message names each of the 1,000 levels before the cause, which would be cut off.
    const short = withoutRepeats(message.split(separator)).join(separator);
    return `${short}; template ${endless} includes itself, directly or through others: end it by a condition`;
  }
  if (/may not add resource with an already registered id: \S+$/.test(message)) {
    return `${message}; the chart renders this object twice: remove or rename one of the two`;
  }
  return message;
}

function withoutRepeats(parts: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (let at = 0; at < parts.length; ) {
    const period = periodAt(parts, at);
    kept.push(...parts.slice(at, at + Math.max(1, period)));
    at += Math.max(1, period);
    if (period === 0) continue;
    while (isRepeated(parts, at - period, period)) at += period;
    kept.push("...");
  }
  return kept;
}

/** How many parts repeat at least twice from here; 0 if none do. */
function periodAt(parts: readonly string[], at: number): number {
  for (let period = 1; period <= maxPeriod; period += 1) {
    if (isRepeated(parts, at, period) && isRepeated(parts, at + period, period)) return period;
  }
  return 0;
}

function isRepeated(parts: readonly string[], at: number, period: number): boolean {
  if (at + 2 * period > parts.length) return false;
  for (let place = at; place < at + period; place += 1) {
    if (parts[place] !== parts[place + period]) return false;
  }
  return true;
}

/** What is said if templates nest so deep that the stack of the sandbox ends, as by a `tpl` of a text that calls `tpl` with itself. */
export const endlessTemplates =
  "its templates nest too deep: look for a tpl or include that leads to itself, and end it by a condition";

/** Whether the error of a thread says that its stack has ended. */
export function isStackOverflow(why: string): boolean {
  return why.includes("Maximum call stack size exceeded");
}
