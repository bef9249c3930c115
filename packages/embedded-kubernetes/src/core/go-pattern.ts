import { RE2JS, RE2JSException } from "re2js";

/** Patterns come from few definitions and are asked for with every write; a full table is begun anew. */
const compiled = new Map<string, RE2JS>();
const maxCompiled = 2000;

/** Whether Go's `regexp` finds the pattern in the text: RE2, so no pattern of a user's can take forever. */
export function matchesPattern(pattern: string, text: string): boolean {
  return compile(pattern).matcher(text).find();
}

/** The first part of the text that matches, or nothing. */
export function findPattern(pattern: string, text: string): string {
  const matcher = compile(pattern).matcher(text);
  return matcher.find() ? (matcher.group() ?? "") : "";
}

/** What is wrong with a pattern, if it is none. */
export function patternProblem(pattern: string): string | undefined {
  try {
    compile(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof RE2JSException) return error.message;
    throw error;
  }
}

function compile(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (compiled.size >= maxCompiled) compiled.clear();
  const fresh = RE2JS.compile(pattern);
  compiled.set(pattern, fresh);
  return fresh;
}
