import { z } from "zod";
import { Failure } from "../core/failure.ts";
import type { LiveObject } from "../core/manifest.ts";
import { refOf } from "../core/manifest.ts";
import { subject } from "../core/object-ref.ts";

/** Parses a part of a live object. Throws a {@link Failure} `InvalidSpec` that names the object and every invalid field. */
export function parseLive<Schema extends z.ZodType>(
  live: LiveObject,
  part: "spec" | "status",
  schema: Schema,
): z.output<Schema> {
  const result = schema.safeParse(live[part] ?? {});
  if (result.success) return result.data;
  throw invalid(live, part, fieldFaults(part, result.error.issues), { cause: result.error });
}

/** `spec.interval: is required` and the like, for each invalid field. */
export function fieldFaults(part: "spec" | "status", issues: readonly z.core.$ZodIssue[]): readonly string[] {
  return issues.map((issue) => `${fieldOf(part, issue.path)}: ${reasonOf(issue)}`);
}

/** The refusal of an object with faults in its fields. */
export function invalid(
  live: LiveObject,
  part: "spec" | "status",
  faults: readonly string[],
  options: ErrorOptions = {},
): Failure {
  const mend = `correct the object, for example with kubectl edit; kubectl explain ${live.kind}.${part} describes each field`;
  return new Failure("InvalidSpec", `${subject(refOf(live))} is invalid: ${faults.join("; ")}; ${mend}`, options);
}

/** `spec.dependsOn[0].name`, as kubectl and the API server write it. */
function fieldOf(part: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : `${text}.${String(key)}`),
    part,
  );
}

function reasonOf(issue: z.core.$ZodIssue): string {
  return issue.code === "invalid_type" && issue.message.endsWith("received undefined") ? "is required" : issue.message;
}
