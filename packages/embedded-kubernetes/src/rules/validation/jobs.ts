import { invalidValue, required } from "../../core/field-errors.ts";
import type { GoStruct } from "../../core/go-value.ts";
import type { JsonObject } from "../../core/json.ts";
import { numberOf, objectOf, textOf } from "../../core/json-fields.ts";
import { type Errors, none, nonNegative, oneOf } from "./checks.ts";
import { isKnownZone, scheduleProblem } from "./cron-schedule.ts";
import { podTemplateErrors } from "./pod-spec.ts";
import { selectorErrors } from "./selectors.ts";
import { immutable, labelMismatch } from "./workloads.ts";

const counts = ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"];
const maxCronJobName = 52;

/** A Job of its own: its spec, then the selector that the server made or the user gave. */
export function jobSpecErrors(spec: JsonObject): Errors {
  const selector = objectOf(spec, "selector");
  return [
    ...jobBodyErrors(spec, "spec"),
    ...(selector === undefined ? [required("spec.selector")] : selectorErrors(selector, "spec.selector")),
    ...(selector === undefined ? none : labelMismatch(selector, objectOf(spec, "template"))),
  ];
}

function jobBodyErrors(spec: JsonObject, path: string): Errors {
  const template = objectOf(spec, "template");
  const restartPolicy = textOf(objectOf(template, "spec"), "restartPolicy");
  return [
    ...counts.flatMap((field) => nonNegative(spec, field, path)),
    ...modeErrors(spec, path),
    ...podTemplateErrors(template, `${path}.template`),
    ...(["OnFailure", "Never"].includes(restartPolicy)
      ? none
      : [required(`${path}.template.spec.restartPolicy`, 'valid values: "OnFailure", "Never"')]),
  ];
}

function modeErrors(spec: JsonObject, path: string): Errors {
  const mode = textOf(spec, "completionMode");
  if (mode === "") return none;
  const isUncounted = mode === "Indexed" && numberOf(spec, "completions") === undefined;
  return [
    ...oneOf(`${path}.completionMode`, mode, ["NonIndexed", "Indexed"]),
    ...(isUncounted ? [required(`${path}.completions`, "when completion mode is Indexed")] : none),
  ];
}

export function jobUpdateErrors(spec: JsonObject, before: JsonObject, printedTemplate: GoStruct): Errors {
  const template = immutable("spec.template", spec["template"], before["template"]);
  return [
    ...immutable("spec.completions", spec["completions"], before["completions"]),
    ...immutable("spec.selector", spec["selector"], before["selector"]),
    ...(template.length === 0 ? none : [invalidValue("spec.template", printedTemplate, "field is immutable")]),
    ...immutable("spec.completionMode", spec["completionMode"], before["completionMode"]),
    ...immutable("spec.podFailurePolicy", spec["podFailurePolicy"], before["podFailurePolicy"]),
    ...immutable("spec.backoffLimitPerIndex", spec["backoffLimitPerIndex"], before["backoffLimitPerIndex"]),
    ...immutable("spec.managedBy", spec["managedBy"], before["managedBy"]),
    ...immutable("spec.successPolicy", spec["successPolicy"], before["successPolicy"]),
  ];
}

/** The name leaves room for the suffix of the Jobs it makes. */
export function cronJobNameErrors(name: string): Errors {
  return name.length > maxCronJobName
    ? [invalidValue("metadata.name", name, `must be no more than ${maxCronJobName} characters`)]
    : none;
}

export function cronJobSpecErrors(spec: JsonObject): Errors {
  const jobSpec = objectOf(objectOf(spec, "jobTemplate"), "spec") ?? {};
  return [
    ...scheduleErrors(textOf(spec, "schedule")),
    ...nonNegative(spec, "startingDeadlineSeconds", "spec"),
    ...zoneErrors(spec),
    ...oneOf("spec.concurrencyPolicy", textOf(spec, "concurrencyPolicy"), ["Allow", "Forbid", "Replace"]),
    ...jobBodyErrors(jobSpec, "spec.jobTemplate.spec"),
    ...(jobSpec["manualSelector"] === true
      ? [invalidValue("spec.jobTemplate.spec.manualSelector", true, "`manualSelector` will be auto-generated")]
      : none),
    ...nonNegative(spec, "successfulJobsHistoryLimit", "spec"),
    ...nonNegative(spec, "failedJobsHistoryLimit", "spec"),
  ];
}

function scheduleErrors(schedule: string): Errors {
  if (schedule === "") return [required("spec.schedule")];
  if (schedule.includes("TZ")) {
    return [
      invalidValue("spec.schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"),
    ];
  }
  const problem = scheduleProblem(schedule);
  return problem === undefined ? none : [invalidValue("spec.schedule", schedule, problem)];
}

function zoneErrors(spec: JsonObject): Errors {
  const zone = spec["timeZone"];
  if (typeof zone !== "string") return none;
  if (zone === "") return [invalidValue("spec.timeZone", zone, "timeZone must be nil or non-empty string")];
  return isKnownZone(zone) ? none : [invalidValue("spec.timeZone", zone, `unknown time zone ${zone}`)];
}
