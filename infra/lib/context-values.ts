import { z } from "zod";
import { nearestName } from "../../functions/settings/nearest-name.ts";
import { cutText, someOf } from "../../lib/core/cut-text.ts";

/** `true` or `false`, also as texts. */
export function readFlag(name: string, value: unknown, faults: string[]): boolean {
  if (value === undefined || value === false || value === "false") return false;
  if (value !== true && value !== "true") faults.push(`${name} must be true or false`);
  return true;
}

/** An object, or its JSON. */
export function readSettings(value: unknown, faults: string[]): Readonly<Record<string, unknown>> {
  if (value === undefined) return {};
  const parsed = Settings.safeParse(typeof value === "string" ? parseJson(value) : value);
  if (parsed.success) return parsed.data;
  faults.push('settings must be an object: {"no-cross-namespace-refs": true}, see docs/settings.md');
  return {};
}

const Settings = z.record(z.string(), z.unknown());

/** Addresses, or a text with commas between them. */
export function readEmails(name: string, value: unknown, faults: string[]): readonly string[] {
  if (value === undefined || value === "none") return [];
  const parsed = z.array(z.unknown()).safeParse(typeof value === "string" ? parseList(value) : value);
  const addresses = parsed.success ? parsed.data : [value];
  const wrong = addresses.filter((one) => !Email.safeParse(one).success);
  if (parsed.success && wrong.length === 0) return z.array(Email).parse(addresses);
  faults.push(
    `${name} has ${someOf(wrong.map((one) => cutText(JSON.stringify(one), maxQuotedChars)))}${wrong.length === 1 ? ", which is not an email address" : ", which are not email addresses"}: write addresses with commas between them, or a list of them`,
  );
  return [];
}

const maxQuotedChars = 100;
const Email = z.string().regex(/^[^\s@,]+@[^\s@,]+$/);

/** ARNs with commas between them, or JSON: a list of ARNs and of objects. */
export function readList<Entry extends z.ZodType>(
  name: string,
  value: unknown,
  schema: Entry,
  faults: string[],
  keysAt: (path: readonly PropertyKey[]) => readonly string[],
): readonly z.output<Entry>[] {
  if (value === undefined || value === "none") return [];
  const listed = typeof value === "string" ? parseList(value) : value;
  if (!Array.isArray(listed)) {
    faults.push(`${name} must be ARNs with commas between them, or a list in JSON: [{"arn": "…"}]`);
    return [];
  }
  return listed.flatMap((entry: unknown, index): readonly z.output<Entry>[] => {
    const parsed = schema.safeParse(typeof entry === "string" ? { arn: entry } : entry);
    if (parsed.success) return [parsed.data];
    for (const issue of parsed.error.issues) faults.push(...told(`${name}[${index}]`, issue, keysAt));
    return [];
  });
}

/** The faults of an entry in the words of cdk.json. `keysAt`: what the object at a path may have. */
export function told(
  entry: string,
  issue: z.core.$ZodIssue,
  keysAt: (path: readonly PropertyKey[]) => readonly string[],
): readonly string[] {
  const place = [entry, ...issue.path].join(".");
  if (issue.code !== "unrecognized_keys") return [`${place} ${issue.message}`];
  return issue.keys.map((key) => {
    const near = nearestName(key, keysAt(issue.path));
    return `${place}.${key} is not known: ${near === undefined ? "remove it" : `did you mean ${near}?`}`;
  });
}

function parseList(text: string): unknown {
  if (!text.trimStart().startsWith("[")) return text.split(",").map((part) => part.trim());
  return parseJson(text);
}

/** Undefined for what is not JSON: the caller says what was expected. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
