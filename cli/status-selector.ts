import { type KindDeclaration, readyConditionOf } from "../lib/api/kinds/declaration.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { conditionOf, readinessOf } from "./objects/read-object.ts";

/** Whether an object is among those that `--status-selector` asks for; every object is without it. */
export function selectedBy(kind: KindDeclaration, statusSelector: string | undefined): (object: LiveObject) => boolean {
  return statusSelector === undefined ? () => true : selects(kind, parseStatusSelector(statusSelector));
}

function selects(kind: KindDeclaration, { type, status, negated }: StatusSelector): (object: LiveObject) => boolean {
  return (object) => {
    const found = type === readyConditionOf(kind) ? readinessOf(kind, object) : conditionOf(object, type);
    return (found?.status.toLowerCase() === status) !== negated;
  };
}

/** `--status-selector`: objects whose condition has this status, or does not have it. */
export interface StatusSelector {
  /** The condition's type as conditions spell it: `Ready` for `ready`. */
  readonly type: string;
  /** In lower case. */
  readonly status: string;
  readonly negated: boolean;
}

/** Reads `type=status` or `type!=status`, in any case of letters. */
export function parseStatusSelector(text: string): StatusSelector {
  const [, type, not, status] = /^([^=!]+)(!?)=([^=!]+)$/.exec(text) ?? [];
  if (type === undefined || status === undefined) {
    throw new Error(`expected status selector in type=status or type!=status format, but found: ${text}`);
  }
  const lower = type.toLowerCase();
  return { type: lower.slice(0, 1).toUpperCase() + lower.slice(1), status: status.toLowerCase(), negated: not === "!" };
}
