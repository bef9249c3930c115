import type { Gvk } from "../core/api-object.ts";

/** What a kind does that its schema does not tell. */
export interface KindFacts {
  readonly isBuiltin: boolean;
  /** Whether the resource has a `status` subresource. */
  readonly hasStatus: boolean;
}

/** `group/Kind`, as the tables of kinds have it; the core group is empty. */
export function kindOf(gvk: Gvk): string {
  return `${gvk.group}/${gvk.kind}`;
}
