import { digestOf } from "../../core/digest.ts";
import type { KindDeclaration } from "./declaration.ts";

/**
 * A short mark that changes with the followed annotations of an object; absent if none of them is set. Pure. A single annotation has the
 * same mark as in earlier releases, so that their stored marks stay valid.
 */
export function followedMark(
  { followedAnnotations }: Pick<KindDeclaration, "followedAnnotations">,
  annotations: Readonly<Record<string, string>> = {},
): readonly string[] {
  const values = followedAnnotations?.map((name) => annotations[name] ?? null) ?? [];
  const [only] = values.length === 1 ? values : [];
  if (values.every((value) => value === null)) return [];
  return [digestOf(only ?? JSON.stringify(values))];
}
