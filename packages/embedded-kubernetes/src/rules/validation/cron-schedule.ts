/** What is wrong with a cron schedule, in the words of the server's parser (five fields, or a descriptor). */
export function scheduleProblem(schedule: string): string | undefined {
  if (schedule.startsWith("@")) return descriptorProblem(schedule);
  const fields = schedule.split(/\s+/).filter((field) => field !== "");
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`;
  return fields.map((field, index) => fieldProblem(field, bounds[index])).find((problem) => problem !== undefined);
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const bounds: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: ["", ...months] },
  { min: 0, max: 6, names: days },
];
const descriptors = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

export function isKnownZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false; // Intl throws for a zone that it does not know: that is the answer asked for
  }
}

function descriptorProblem(text: string): string | undefined {
  if (descriptors.includes(text)) return undefined;
  const every = /^@every (.*)$/.exec(text)?.[1];
  if (every === undefined) return `unrecognized descriptor: ${text}`;
  return /^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(every)
    ? undefined
    : `failed to parse duration ${text}: time: invalid duration "${every}"`;
}

function fieldProblem(field: string, limits: Bounds | undefined): string | undefined {
  if (limits === undefined) return undefined;
  return field
    .split(",")
    .map((part) => rangeProblem(part, limits))
    .find((problem) => problem !== undefined);
}

function rangeProblem(part: string, { min, max, names }: Bounds): string | undefined {
  const [range = "", stepText, ...tooManySteps] = part.split("/");
  const [startText = "", endText, ...tooManyEnds] = range.split("-");
  if (tooManyEnds.length > 0) return `too many hyphens: ${part}`;
  const isAny = startText === "*" || startText === "?";
  const start = isAny ? min : valueOf(startText, names);
  const end = isAny ? max : endText === undefined ? start : valueOf(endText, names);
  if (typeof start === "string") return start;
  if (typeof end === "string") return end;
  if (tooManySteps.length > 0) return `too many slashes: ${part}`;
  const step = stepText === undefined ? 1 : valueOf(stepText, []);
  if (typeof step === "string") return step;
  const last = stepText !== undefined && endText === undefined ? max : end;
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${part}`;
  if (last > max) return `end of range (${last}) above maximum (${max}): ${part}`;
  if (start > last) return `beginning of range (${start}) beyond end of range (${last}): ${part}`;
  return step === 0 ? `step of range should be a positive number: ${part}` : undefined;
}

/** The number, or what is wrong with it. */
function valueOf(text: string, names: readonly string[]): number | string {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0 && text !== "") return named;
  if (/^-\d+$/.test(text)) return `negative number (${text}) not allowed: ${text}`;
  return /^\d+$/.test(text)
    ? Number(text)
    : `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
}
