import { digestOf } from "../../core/digest.ts";
import type { KindDeclaration } from "./declaration.ts";

/**
 * A mark that changes with the annotations that an object of the kind follows: short, whatever they hold, and none where none is set. Pure.
 * The mark of a single annotation is that of earlier releases, so that what they have stored still holds.
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
