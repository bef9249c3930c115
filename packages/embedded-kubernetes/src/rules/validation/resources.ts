import { invalidValue, required } from "../../core/field-errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { objectOf } from "../../core/json-fields.ts";
import { parseQuantity } from "../../core/quantity.ts";
import { type Errors, named, negativeText, none } from "./checks.ts";
import { qualifiedName } from "./name-rules.ts";

const containerResources = new Set(["cpu", "memory", "ephemeral-storage"]);
/** `IsStandardResourceName`: what quotas may name as well. */
const standardResources = new Set([
  ...containerResources,
  ...["cpu", "memory", "ephemeral-storage"].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  ...[
    "pods",
    "services",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
  ],
  ...["storage", "requests.storage", "services.nodeports", "services.loadbalancers"],
]);
const nanosPerUnit = 10n ** 9n;

/** `ValidateContainerResourceRequirements`: known resources, no negative amounts, requests within their limits. */
export function resourceErrors(resources: JsonObject | undefined, path: string): Errors {
  const limits = objectOf(resources, "limits") ?? {};
  const requests = objectOf(resources, "requests") ?? {};
  return [
    ...names(limits).flatMap((name) => amountErrors(name, limits, `${path}.limits[${name}]`)),
    ...names(requests).flatMap((name) => [
      ...amountErrors(name, requests, `${path}.requests[${name}]`),
      ...limitErrors(name, requests, limits, path),
    ]),
  ];
}

function names(amounts: JsonObject): readonly string[] {
  return Object.keys(amounts).toSorted();
}

function amountErrors(name: string, amounts: JsonObject, path: string): Errors {
  return [...resourceNameErrors(name, path), ...quantityErrors(name, amounts, path)];
}

function resourceNameErrors(name: string, path: string): Errors {
  const problems = named(path, name, qualifiedName);
  if (problems.length > 0) return problems;
  if (name.includes("/")) return none;
  return containerResources.has(name) || name.startsWith("hugepages-")
    ? none
    : [
        ...(standardResources.has(name)
          ? none
          : [invalidValue(path, name, "must be a standard resource type or fully qualified")]),
        invalidValue(path, name, "must be a standard resource for containers"),
      ];
}

/** Whole units only for what cannot be divided: extended resources and huge pages. */
function quantityErrors(name: string, amounts: JsonObject, path: string): Errors {
  const text = quantityText(amounts, name);
  const { nanos } = parseQuantity(text);
  if (nanos < 0n) return [invalidValue(path, text, negativeText)];
  return isOvercommitAllowed(name) || nanos % nanosPerUnit === 0n
    ? none
    : [invalidValue(path, text, "must be an integer")];
}

function limitErrors(name: string, requests: JsonObject, limits: JsonObject, path: string): Errors {
  const request = quantityText(requests, name);
  if (limits[name] === undefined) {
    return isOvercommitAllowed(name)
      ? none
      : [required(`${path}.limits`, "Limit must be set for non overcommitable resources")];
  }
  const limit = quantityText(limits, name);
  const [wanted, most] = [parseQuantity(request).nanos, parseQuantity(limit).nanos];
  if (!isOvercommitAllowed(name) && wanted !== most) {
    return [invalidValue(`${path}.requests`, request, `must be equal to ${name} limit of ${limit}`)];
  }
  return wanted > most
    ? [invalidValue(`${path}.requests`, request, `must be less than or equal to ${name} limit of ${limit}`)]
    : none;
}

function isOvercommitAllowed(name: string): boolean {
  return !name.includes("/") && !name.startsWith("hugepages-");
}

export function quantityText(amounts: JsonObject, name: string): string {
  const amount = amounts[name];
  return typeof amount === "string" || typeof amount === "number" ? String(amount) : "0";
}
