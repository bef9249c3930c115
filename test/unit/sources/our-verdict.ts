import { z } from "zod";
import { substituteText } from "../../../lib/manifests/substitute/evaluate.ts";
import { TemplateError } from "../../../lib/manifests/substitute/template.ts";
import { ignoreBy, parseIgnoreFile } from "../../../lib/sources/archive/ignore-rules.ts";
import { chooseTag } from "../../../lib/sources/oci/choose-tag.ts";
import { parseSemverRange, type SemverRange } from "../../../lib/sources/semver-range.ts";
import { parseSemver } from "../../../lib/sources/semver-version.ts";

/**
 * A pattern of a user, and the text that it is matched with: a range and a tag, a regular expression and a tag, the
 * lines of an ignore file and a path (a folder's ends in a slash), a template and its variables in JSON.
 */
export type DialectCase = readonly [
  dialect: "expression" | "ignore" | "range" | "template",
  pattern: string,
  text: string,
];

/** What `test/interop/dialects` says of a case, said by us. */
export async function ourVerdict([dialect, pattern, text]: DialectCase): Promise<string> {
  switch (dialect) {
    case "range":
      return ofRange(pattern, text);
    case "expression":
      return ofExpression(pattern, text);
    case "ignore":
      return inOrOut(ignoreBy(parseIgnoreFile(pattern))(text.replace(/\/$/, ""), text.endsWith("/")));
    case "template":
      return ofTemplate(pattern, text);
  }
}

const Variables = z.record(z.string(), z.string());

function ofTemplate(template: string, variables: string): string {
  try {
    const values = new Map(Object.entries(Variables.parse(JSON.parse(variables))));
    return `text: ${JSON.stringify(substituteText(template, values))}`;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    if (error.message.includes("inside of a character")) return "refused: no UTF-8";
    // Upstream reads past the end of the value there.
    return `refused: ${error.message.includes("must not be negative") ? "broken off" : error.message}`;
  }
}

function ofRange(pattern: string, tag: string): string {
  let range: SemverRange;
  try {
    range = parseSemverRange(pattern);
  } catch (error) {
    if (error instanceof RangeError) return "refused";
    throw error;
  }
  const version = parseSemver(tag);
  return version === undefined ? "no version" : inOrOut(range(version));
}

const never = new AbortController().signal;

/** The tag has to be a version, or it is no candidate. */
async function ofExpression(pattern: string, tag: string): Promise<string> {
  try {
    await chooseTag([tag], { semver: "*-0", filter: pattern, isChart: false }, never);
    return "in";
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return /parse error|^error parsing regexp/.test(error.message) ? "refused" : "out";
  }
}

function inOrOut(isIn: boolean): string {
  return isIn ? "in" : "out";
}
