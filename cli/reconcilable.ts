import { kustomizeGroup, sourceGroup } from "../lib/api/names.ts";
import { isJsonObject, type JsonObject } from "../lib/core/json.ts";
import type { LiveObject } from "../lib/core/manifest.ts";

/** A kind that the command line knows: what it is called, and where its objects say what people ask for. */
export interface Reconcilable {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** As progress lines call it: `source oci`. */
  readonly human: string;
  readonly revision: (object: LiveObject) => string;
  /** The line that tells of a reconcile that went well. */
  readonly done: (object: LiveObject) => string;
}

export const ociRepositories: Reconcilable = {
  group: sourceGroup,
  version: "v1",
  kind: "OCIRepository",
  human: "source oci",
  revision: (object) => textAt(object, "status", "artifact", "revision"),
  done: (object) => `fetched revision ${textAt(object, "status", "artifact", "revision")}`,
};

export const kustomizations: Reconcilable = {
  group: kustomizeGroup,
  version: "v1",
  kind: "Kustomization",
  human: "kustomization",
  revision: (object) => textAt(object, "status", "lastAppliedRevision"),
  done: (object) => `applied revision ${textAt(object, "status", "lastAppliedRevision")}`,
};

/** The kinds that `--with-source` can reconcile first. */
export const sources: readonly Reconcilable[] = [ociRepositories];

/** A value deep inside an object, undefined where the way there ends. */
export function valueAt(object: LiveObject | JsonObject, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((part, key) => (isJsonObject(part) ? part[key] : undefined), object);
}

/** A text deep inside an object, empty where there is none. */
export function textAt(object: LiveObject | JsonObject, ...path: readonly string[]): string {
  const value = valueAt(object, ...path);
  return typeof value === "string" ? value : "";
}

export function isSuspended(object: LiveObject): boolean {
  return valueAt(object, "spec", "suspend") === true;
}

export interface ConditionText {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: unknown;
}

/** A condition, read without judging the rest of the status. */
export function conditionOf(object: LiveObject, type: string): ConditionText | undefined {
  const conditions = valueAt(object, "status", "conditions");
  const found = Array.isArray(conditions)
    ? conditions.filter(isJsonObject).find((each) => each["type"] === type)
    : undefined;
  if (found === undefined) return undefined;
  return {
    status: textAt(found, "status"),
    reason: textAt(found, "reason"),
    message: textAt(found, "message"),
    observedGeneration: found["observedGeneration"],
  };
}
