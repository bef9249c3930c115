import { digestOf } from "../../core/digest.ts";
import type { KindDeclaration } from "./declaration.ts";

/**
 * A mark that changes with the annotations that an object of the kind follows: short, whatever they hold, and none where none is set. Pure.
 * A single annotation has the same mark as in earlier releases, so that their stored marks stay valid.
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
