import type { Json, JsonObject } from "../../core/json.ts";
import { primaryName } from "../canary.ts";
import { type ConfigReference, configKey, renameConfigs } from "./config-references.ts";
import { inField, inItems } from "./fields.ts";

/** The pod spec with the copies of its configs. Pure. */
export function withCopies(podSpec: JsonObject, copies: ReadonlyMap<string, unknown>): JsonObject {
  const newName = (reference: ConfigReference): string =>
    copies.has(configKey(reference)) ? primaryName(reference.name) : reference.name;
  return renameConfigs(podSpec, newName);
}

/**
 * The pod spec of a primary Deployment: where the target's pods keep apart from each other, those of the primary keep apart from
 * those of the primary (reference canary 7). Pure.
 */
export function keptApart(podSpec: JsonObject, target: string, selectorLabels: readonly string[]): JsonObject {
  const renamed = (selector: JsonObject): JsonObject => renamedSelector(selector, target, selectorLabels);
  const inTerm = (term: JsonObject): JsonObject => inField(term, "labelSelector", renamed);
  const spread = inItems(podSpec, "topologySpreadConstraints", inTerm);
  return inField(spread, "affinity", (affinity) =>
    inField(affinity, "podAntiAffinity", (rules) => {
      const preferred = inItems(rules, "preferredDuringSchedulingIgnoredDuringExecution", (rule) =>
        inField(rule, "podAffinityTerm", inTerm),
      );
      return inItems(preferred, "requiredDuringSchedulingIgnoredDuringExecution", inTerm);
    }),
  );
}

function renamedSelector(selector: JsonObject, target: string, selectorLabels: readonly string[]): JsonObject {
  const inExpressions = inItems(selector, "matchExpressions", (expression) => {
    const { key, values } = expression;
    if (typeof key !== "string" || !selectorLabels.includes(key) || !Array.isArray(values)) return expression;
    const first = values.indexOf(target);
    return {
      ...expression,
      values: values.map((value: Json, index) => (index === first ? primaryName(target) : value)),
    };
  });
  return inField(inExpressions, "matchLabels", (labels) =>
    Object.fromEntries(
      Object.entries(labels).map(([key, value]) => [
        key,
        selectorLabels.includes(key) && value === target ? primaryName(target) : value,
      ]),
    ),
  );
}
