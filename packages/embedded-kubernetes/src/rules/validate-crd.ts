import type { ApiObject, FieldError } from "../core/api-object.ts";
import { invalidValue, notSupported, required } from "../core/field-errors.ts";
import type { JsonObject } from "../core/json.ts";
import { itemsOf, objectOf, objectsOf, textOf, textsOf } from "../core/json-fields.ts";
import { structuralErrors } from "./custom/structural-errors.ts";
import { type Errors, each, named, none, requiredText } from "./validation/checks.ts";
import { dnsSubdomain, serviceName } from "./validation/name-rules.ts";
import { immutable } from "./validation/workloads.ts";

/** Errors of a CustomResourceDefinition besides its metadata. `validateObject` calls it for that kind. */
export function validateCrd(object: ApiObject, old: ApiObject | undefined): readonly FieldError[] {
  const spec = objectOf(object, "spec") ?? {};
  const before = objectOf(old, "spec");
  return [
    ...nameErrors(object, spec),
    ...specErrors(spec),
    ...(before === undefined ? none : updateErrors(spec, before, object)),
  ];
}

function nameErrors(object: ApiObject, spec: JsonObject): Errors {
  const name = textOf(objectOf(object, "metadata"), "name");
  const wanted = `${textOf(objectOf(spec, "names"), "plural")}.${textOf(spec, "group")}`;
  return name === wanted ? none : [invalidValue("metadata.name", name, 'must be spec.names.plural+"."+spec.group')];
}

function specErrors(spec: JsonObject): Errors {
  const group = textOf(spec, "group");
  const versions = objectsOf(spec, "versions");
  return [
    ...groupErrors(group),
    ...scopeErrors(textOf(spec, "scope")),
    ...versionsErrors(spec, versions),
    ...namesErrors(objectOf(spec, "names")),
    ...conversionErrors(objectOf(spec, "conversion")),
  ];
}

function groupErrors(group: string): Errors {
  if (group === "") return [required("spec.group")];
  const problems = named("spec.group", group, dnsSubdomain);
  return problems.length > 0 || group.includes(".")
    ? problems
    : [invalidValue("spec.group", group, "should be a domain with at least one dot")];
}

function scopeErrors(scope: string): Errors {
  if (scope === "") return [required("spec.scope")];
  const scopes = ["Cluster", "Namespaced"];
  return scopes.includes(scope) ? none : [notSupported("spec.scope", scope, scopes)];
}

function versionsErrors(spec: JsonObject, versions: readonly JsonObject[]): Errors {
  const names = versions.map((version) => textOf(version, "name"));
  const isUnique = new Set(names).size === names.length;
  const stored = versions.filter((version) => version["storage"] === true).length;
  return [
    ...each(versions, "spec.versions", (version, path) => versionErrors(version, path, versions.length === 1)),
    ...(isUnique ? none : [invalidValue("spec.versions", spec["versions"], "must contain unique version names")]),
    ...(stored === 1
      ? none
      : [invalidValue("spec.versions", spec["versions"], "must have exactly one version marked as storage version")]),
  ];
}

/** Of a single version the server speaks as if its schema stood at the top of the spec. */
function versionErrors(version: JsonObject, path: string, isOnly: boolean): Errors {
  const name = textOf(version, "name");
  const schema = objectOf(objectOf(version, "schema"), "openAPIV3Schema");
  const at = isOnly ? "spec.validation.openAPIV3Schema" : `${path}.schema.openAPIV3Schema`;
  return [
    ...(name === "" ? [required(`${path}.name`)] : named(`${path}.name`, name, serviceName)),
    ...(schema === undefined ? [required(`${path}.schema.openAPIV3Schema`)] : structuralErrors(schema, at)),
    ...each(objectsOf(version, "additionalPrinterColumns"), `${path}.additionalPrinterColumns`, columnErrors),
    ...scaleErrors(objectOf(objectOf(version, "subresources"), "scale"), `${path}.subresources.scale`),
    ...each(objectsOf(version, "selectableFields"), `${path}.selectableFields`, (field, item) =>
      requiredText(`${item}.jsonPath`, textOf(field, "jsonPath")),
    ),
  ];
}

const columnTypes = ["boolean", "date", "integer", "number", "string"];

function columnErrors(column: JsonObject, path: string): Errors {
  const type = textOf(column, "type");
  const jsonPath = textOf(column, "jsonPath");
  return [
    ...requiredText(`${path}.name`, textOf(column, "name")),
    ...(type === "" ? [required(`${path}.type`, `must be one of ${columnTypes.join(",")}`)] : none),
    ...(type === "" || columnTypes.includes(type)
      ? none
      : [invalidValue(`${path}.type`, type, `must be one of ${columnTypes.join(",")}`)]),
    ...requiredText(`${path}.jsonPath`, jsonPath),
  ];
}

function scaleErrors(scale: JsonObject | undefined, path: string): Errors {
  if (scale === undefined) return none;
  return [
    ...["specReplicasPath", "statusReplicasPath"].flatMap((field) => {
      const value = textOf(scale, field);
      const root = field === "specReplicasPath" ? ".spec." : ".status.";
      if (value === "") return [required(`${path}.${field}`)];
      return value.startsWith(root)
        ? none
        : [invalidValue(`${path}.${field}`, value, `should be a json path under ${root.slice(0, -1)}`)];
    }),
  ];
}

function namesErrors(names: JsonObject | undefined): Errors {
  const path = "spec.names";
  const text = (field: string): string => textOf(names, field);
  return [
    ...["plural", "singular", "kind", "listKind"].flatMap((field) => requiredText(`${path}.${field}`, text(field))),
    ...["plural", "singular"].flatMap((field) =>
      text(field) === "" ? none : named(`${path}.${field}`, text(field), serviceName),
    ),
    ...["kind", "listKind"].flatMap((field) =>
      text(field) === ""
        ? none
        : serviceName(text(field).toLowerCase()).map((problem) =>
            invalidValue(
              `${path}.${field}`,
              text(field),
              `may have mixed case, but should otherwise match: ${problem}`,
            ),
          ),
    ),
    ...each(textsOf(names, "shortNames"), `${path}.shortNames`, (name, at) => named(at, name, serviceName)),
    ...(text("kind") !== "" && text("kind") === text("listKind")
      ? [invalidValue(`${path}.listKind`, text("listKind"), "kind and listKind may not be the same")]
      : none),
  ];
}

function conversionErrors(conversion: JsonObject | undefined): Errors {
  const strategy = textOf(conversion, "strategy");
  const webhook = objectOf(conversion, "webhook");
  if (strategy === "Webhook") {
    if (objectOf(webhook, "clientConfig") === undefined) {
      return [required("spec.conversion.webhookClientConfig", "required when strategy is set to Webhook")];
    }
    return itemsOf(webhook, "conversionReviewVersions").length === 0
      ? [required("spec.conversion.conversionReviewVersions")]
      : none;
  }
  if (strategy !== "None" && strategy !== "") {
    return [notSupported("spec.conversion.strategy", strategy, ["None", "Webhook"])];
  }
  return none;
}

/** Group, scope and names stay once objects may exist; a version that objects were kept in must stay too. */
function updateErrors(spec: JsonObject, before: JsonObject, object: ApiObject): Errors {
  const names = objectsOf(spec, "versions").map((version) => textOf(version, "name"));
  const stored = textsOf(objectOf(object, "status"), "storedVersions");
  return [
    ...["group", "scope"].flatMap((field) => immutable(`spec.${field}`, spec[field], before[field])),
    ...["kind", "plural"].flatMap((field) =>
      immutable(`spec.names.${field}`, objectOf(spec, "names")?.[field], objectOf(before, "names")?.[field]),
    ),
    ...each(stored, "status.storedVersions", (version, path) =>
      names.includes(version)
        ? none
        : [
            invalidValue(
              path,
              version,
              `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`,
            ),
          ],
    ),
  ];
}
