import { z } from "zod";

/** Places of a step in which Flux's own result varies, because it processes several objects at the same time. */
interface Race {
  readonly step: string;
  /** As keys and indexes, in the step as it is compared. */
  readonly at: readonly (readonly (string | number)[])[];
  readonly why: string;
}

const races: readonly Race[] = [
  {
    step: "refused-objects/03-two-refusals",
    at: [
      ["events", 0, "message"],
      ["objects", 0, "status", "conditions", 1, "message"],
    ],
    why: "two objects are refused, and it reports the answer that comes first",
  },
  {
    step: "immutable/04-annotation-only",
    at: [["managed", 0]],
    why: "it deletes the object that may be recreated, unless the refusal of the other one comes first",
  },
  {
    step: "immutable/04-annotation-only",
    at: [["objects", 0, "status", "history", 1, "totalReconciliations"]],
    why: "it may or may not reconcile the revision before once more, between its success and the next push",
  },
];

/** A step as it is compared, without the parts that depend on chance. */
export function withoutRaces(scenario: string, step: string, shown: unknown): unknown {
  const places = races.filter((race) => race.step === `${scenario}/${step}`).flatMap(({ at }) => at);
  return places.reduce(without, shown);
}

function without(value: unknown, [key, ...rest]: readonly (string | number)[]): unknown {
  if (key === undefined) return "<race>";
  if (Array.isArray(value)) return value.map((item: unknown, index) => (index === key ? without(item, rest) : item));
  const fields = z.record(z.string(), z.unknown()).parse(value);
  return { ...fields, [key]: without(fields[key], rest) };
}
