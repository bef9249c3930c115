import { type Canary, canaryServiceName, canaryText, primaryName, primaryServiceName } from "../canary.ts";
import { StepFault } from "../step-fault.ts";
import type { TargetMetadata } from "./workload.ts";

/** The limit for a Service's name and for a label's value. */
const mostCharacters = 63;

/**
 * Throws a {@link StepFault} where a name that is made up for the Canary is longer than the API server takes it. Checked before anything is
 * written: Flagger creates the earlier objects and then stops.
 */
export function checkGeneratedNames(canary: Canary, { label, labelValue }: TargetMetadata): void {
  const { targetRef } = canary.spec;
  if (targetRef.kind === "Service") {
    checkLength(primaryName(targetRef.name), "Service", "give the target a name", canary);
    return;
  }
  for (const name of [primaryServiceName(canary), canaryServiceName(canary)]) {
    checkLength(name, "Service", "give spec.service.name a value", canary);
  }
  const mend = `give the label ${label} of the selector of ${targetRef.kind} ${targetRef.name} a value`;
  checkLength(primaryName(labelValue), `value of the label ${label} of the primary's pods`, mend, canary);
}

function checkLength(name: string, what: string, mend: string, canary: Canary): void {
  if (name.length <= mostCharacters) return;
  const most = mostCharacters - primaryName("").length;
  throw new StepFault(
    `Canary ${canaryText(canary)} cannot be released: the ${what} ${name} has ${name.length} characters, and ` +
      `${mostCharacters} are the most: ${mend} of at most ${most} characters`,
  );
}
