import { z } from "zod";

// The patterns of metav1.Condition, which every CRD with conditions carries.
const typePattern =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/;
const reasonPattern = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/** `metav1.Condition` as Flux writes it, with the generation that the condition is about. */
export const Condition = z.object({
  type: z.string().max(316).regex(typePattern).describe("What the condition is about, in CamelCase."),
  status: z.enum(["True", "False", "Unknown"]).describe("Whether it holds."),
  reason: z.string().min(1).max(1024).regex(reasonPattern).describe("Why, in one word for programs."),
  message: z.string().max(32_768).describe("Why, for people."),
  lastTransitionTime: z.string().meta({ format: "date-time" }).describe("Since when it is so."),
  observedGeneration: z.number().int().min(0).describe("Generation that the condition describes.").exactOptional(),
});
export type Condition = Readonly<z.infer<typeof Condition>>;

/** A reason that a condition of an object already has. It may be any word, since another controller may have written it. */
export const ConditionReason = z.string().brand<"ConditionReason">();
export type ConditionReason = z.infer<typeof ConditionReason>;

/** `status.conditions` of every kind. */
export const Conditions = z.array(Condition).describe("How the object is doing.");

export function findCondition(conditions: readonly Condition[], type: string): Condition | undefined {
  return conditions.find((condition) => condition.type === type);
}

export function isTrue(conditions: readonly Condition[], type: string): boolean {
  return findCondition(conditions, type)?.status === "True";
}
