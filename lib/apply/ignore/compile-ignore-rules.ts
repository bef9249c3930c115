import { RE2JS } from "re2js";
import { inTimeSlices } from "../../core/concurrency.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import { parsePointer } from "../../core/json-pointer.ts";
import { type LabelQuery, parseLabelQuery } from "../../core/label-query.ts";
import { refOf } from "../../core/manifest.ts";
import type { VersionedRef } from "../../core/object-ref.ts";
import { type IgnoreRule, type IgnoreRules, patterns, type Selected } from "./ignore-rules.ts";

// Loaded only for a spec with rules, since a cold start has no time for RE2.

/** Time for matching all names of a set: a pattern of the greatest length may take 10 ms for one name. */
export const maxMatchingMs = 20_000;

/**
 * Compiles the rules of a spec. All rules count; in Flux, of those without a target only the last does.
 *
 * @throws Failure `ReconciliationFailed` in Flux's words if a selector is malformed
 */
export function compileIgnoreRules(rules: readonly IgnoreRule[], maxMs = maxMatchingMs): IgnoreRules {
  const compiled = rules.map(compileRule);
  const byName = new Map<string, readonly CompiledRule[]>();
  const rulesNamed = (ref: VersionedRef): readonly CompiledRule[] => {
    const key = patterns.map((field) => ref[field]).join("\n");
    const known = byName.get(key) ?? compiled.filter((rule) => rule.isNamed(ref));
    byName.set(key, known);
    return known;
  };
  return {
    pathsFor: (object) => {
      const matching = rulesNamed(refOf(object)).filter((rule) => rule.isMarked(object));
      return [...new Set(matching.flatMap(({ paths }) => paths))].toSorted();
    },
    prepare: async (objects, signal) => {
      if (await inTimeSlices(objects, (object) => void rulesNamed(refOf(object)), maxMs, signal)) return;
      throw new Failure(
        "ReconciliationFailed",
        `spec.ignore takes more than ${maxMs / 1_000} s to match the objects: shorten its patterns`,
      );
    },
  };
}

interface CompiledRule {
  readonly paths: readonly string[];
  /** By group, version, kind, namespace and name. */
  isNamed(ref: VersionedRef): boolean;
  /** By labels and annotations. */
  isMarked(object: Selected): boolean;
}

function compileRule({ paths, target = {} }: IgnoreRule): CompiledRule {
  const matches = patterns.flatMap((field) => {
    const text = target[field] ?? "";
    const pattern = named(`invalid ${field} regex`, () => anchored(text));
    return pattern === undefined ? [] : [(ref: VersionedRef) => pattern(ref[field])];
  });
  const ofLabels = named("invalid label selector", () => queryOf(target.labelSelector));
  const ofAnnotations = named("invalid annotation selector", () => queryOf(target.annotationSelector));
  return {
    paths: paths.filter((path) => parsePointer(path) !== undefined),
    isNamed: (ref) => matches.every((each) => each(ref)),
    isMarked: ({ metadata: { labels = {}, annotations = {} } }) => ofLabels(labels) && ofAnnotations(annotations),
  };
}

/** RE2, as in Flux: anchored, and linear in time for every pattern. Undefined for an empty pattern, which everything matches. */
function anchored(pattern: string): ((text: string) => boolean) | undefined {
  if (pattern === "") return undefined;
  if (/^[A-Za-z0-9_-]+$/.test(pattern)) return (text) => text === pattern;
  const expression = RE2JS.compile(`^(?:${pattern})$`);
  return (text) => expression.matcher(text).find();
}

function queryOf(selector = ""): LabelQuery {
  return selector === "" ? () => true : parseLabelQuery(selector);
}

function named<Result>(what: string, compile: () => Result): Result {
  try {
    return compile();
  } catch (error) {
    const message = `failed to create ignore rule selector: ${what}: ${messageOf(error)}\n`;
    throw new Failure("ReconciliationFailed", message, { cause: error });
  }
}
