import type { z } from "zod";
import { CanaryStatus } from "../../api/canary.ts";
import { fieldFaults } from "../../api/parse-live.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../core/json.ts";

/** A status as far as it can be read. */
export interface ReadStatus {
  readonly status: CanaryStatus;
  /** The ignored parts, each as `status.field: why`. */
  readonly faults: readonly string[];
  /** Whether it has a phase that is not known: then nothing says where the Canary stands. */
  readonly isPhaseUnknown: boolean;
}

/**
 * Reads the status of a Canary field by field: an invalid field that another version of Flagger or a person wrote must not make the others
 * count as empty, since the run would start again. Pure.
 */
export function readStatus(value: unknown): ReadStatus {
  const given = isJsonObject(value) ? withoutEmpty(value) : {};
  const whole = CanaryStatus.safeParse(given);
  if (whole.success) return { status: whole.data, faults: [], isPhaseUnknown: false };
  const { issues } = whole.error;
  return {
    status: CanaryStatus.safeParse(without(given, issues)).data ?? {},
    faults: fieldFaults("status", issues),
    isPhaseUnknown: issues.some(({ path }) => path[0] === "phase"),
  };
}

/** Go's empty values count as unset. */
function withoutEmpty(status: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(status).filter(([field, value]) => value !== null && !(field === "phase" && value === "")),
  );
}

/** In lists only the invalid items are dropped. */
function without(status: JsonObject, issues: readonly z.core.$ZodIssue[]): JsonObject {
  const faulty = new Map<PropertyKey, Set<PropertyKey | undefined>>();
  for (const { path } of issues) {
    const [field = "", item] = path;
    faulty.set(field, (faulty.get(field) ?? new Set()).add(item));
  }
  return Object.fromEntries(
    Object.entries(status).flatMap(([field, value]): readonly (readonly [string, Json])[] => {
      const items = faulty.get(field);
      if (items === undefined) return [[field, value]];
      return isJsonList(value) ? [[field, value.filter((_item, index) => !items.has(index))]] : [];
    }),
  );
}
