import type { ApiObject } from "../core/api-object.ts";
import { equal, isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { plainText } from "../core/plain-text.ts";
import { customVersions } from "../resource/custom-version.ts";

/**
 * The status of a definition among the others: its names are accepted if no other definition of the group has them,
 * and once they are it is established, for good.
 */
export function definitionStatus(definition: ApiObject, others: readonly ApiObject[], now: string): JsonObject {
  const spec = objectAt(definition, "spec");
  const status = objectAt(definition, "status");
  const rivals = others
    .filter((other) => objectAt(other, "spec")["group"] === spec["group"])
    .map((other) => objectAt(objectAt(other, "status"), "acceptedNames"));
  const { accepted, problem } = acceptNames(objectAt(spec, "names"), objectAt(status, "acceptedNames"), rivals);
  const namesAccepted =
    problem === undefined
      ? condition("NamesAccepted", "True", "NoConflicts", "no conflicts found")
      : condition("NamesAccepted", "False", problem.reason, problem.message);
  const isEstablished = problem === undefined || hasCondition(status, "Established", "True");
  const established = isEstablished
    ? condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted")
    : condition("Established", "False", "NotAccepted", "not all names are accepted");
  const storage = customVersions(spec).find((version) => version.storage)?.name;
  const stored = texts(status["storedVersions"]);
  return {
    ...status,
    acceptedNames: accepted,
    conditions: withTimes([namesAccepted, established], status["conditions"], now),
    storedVersions: storage === undefined || stored.includes(storage) ? stored : [...stored, storage],
  };
}

interface Problem {
  readonly reason: string;
  readonly message: string;
}

const reasons: Readonly<Record<string, string>> = {
  plural: "PluralConflict",
  singular: "SingularConflict",
  shortNames: "ShortNamesConflict",
  kind: "KindConflict",
  listKind: "ListKindConflict",
};

/** Names that another definition has stay as they were accepted before; the last problem is told. */
function acceptNames(
  wanted: JsonObject,
  before: JsonObject,
  rivals: readonly JsonObject[],
): { readonly accepted: JsonObject; readonly problem: Problem | undefined } {
  const resourceNames = new Set(
    rivals.flatMap((rival) => [
      plainText(rival["plural"]),
      plainText(rival["singular"]),
      ...texts(rival["shortNames"]),
    ]),
  );
  const kinds = new Set(rivals.flatMap((rival) => [plainText(rival["kind"]), plainText(rival["listKind"])]));
  const accepted: Record<string, Json> = { ...wanted };
  const problems: Problem[] = [];
  for (const field of ["plural", "singular", "shortNames", "kind", "listKind"]) {
    const taken = field === "kind" || field === "listKind" ? kinds : resourceNames;
    const conflicting = namesOf(wanted[field]).filter((name) => taken.has(name));
    if (conflicting.length === 0) continue;
    if (before[field] === undefined) delete accepted[field];
    else accepted[field] = before[field];
    const texts = conflicting.map((name) => `${JSON.stringify(name)} is already in use`);
    problems.push({
      reason: reasons[field] ?? "Conflict",
      message: texts.length === 1 ? texts.join("") : `[${texts.join(", ")}]`,
    });
  }
  return { accepted, problem: problems.at(-1) };
}

function namesOf(value: Json | undefined): readonly string[] {
  return typeof value === "string" ? [value] : texts(value);
}

export function condition(type: string, status: "True" | "False", reason: string, message: string): JsonObject {
  return { type, status, reason, message };
}

/** A condition that says the same keeps the time of its last change; others that were there stay. */
export function withTimes(conditions: readonly JsonObject[], before: Json | undefined, now: string): readonly Json[] {
  const former = objects(before);
  const own = new Set(conditions.map(({ type }) => type));
  const renewed = conditions.map((next) => {
    const { lastTransitionTime, ...last } = former.find(({ type }) => type === next["type"]) ?? {};
    const { type, status, ...rest } = next;
    const isSame = lastTransitionTime !== undefined && equal(last, next);
    return { type: type ?? "", status: status ?? "", lastTransitionTime: isSame ? lastTransitionTime : now, ...rest };
  });
  return [...renewed, ...former.filter(({ type }) => !own.has(type))];
}

function hasCondition(status: JsonObject, type: string, value: string): boolean {
  return objects(status["conditions"]).some((one) => one["type"] === type && one["status"] === value);
}

function objects(list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter((item) => isJsonObject(item)) : [];
}

function texts(list: Json | undefined): readonly string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
}

function objectAt(object: JsonObject, field: string): JsonObject {
  const value = object[field];
  return isJsonObject(value) ? value : {};
}
