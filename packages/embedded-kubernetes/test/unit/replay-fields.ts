import { readFileSync } from "node:fs";
import { type ApiObject, formatApiVersion, type Gvk, StatusError } from "../../src/core/api-object.ts";
import { ConversionError } from "../../src/core/conversion-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../src/core/json.ts";
import { applyFields } from "../../src/fields/apply.ts";
import { convertBuiltin } from "../../src/fields/convert-builtin.ts";
import { finishApply } from "../../src/fields/finish-apply.ts";
import { managedFieldsForUpdate, withoutManagedFields } from "../../src/fields/object-managed-fields.ts";
import { trackUpdate } from "../../src/fields/track-update.ts";
import { jsonPatch } from "../../src/patch/json-patch.ts";
import { mergePatch } from "../../src/patch/merge-patch.ts";
import { strategicMergePatch } from "../../src/patch/strategic-merge-patch.ts";
import { canonicalObject } from "../../src/rules/canonical-object.ts";
import { defaultObject } from "../../src/rules/default-object.ts";
import { builtinResources, builtinSchema } from "../../src/schema/builtin-schema.ts";
import type { TypeSchema } from "../../src/schema/type-schema.ts";

const fixtures = new URL("../fixtures/cluster/", import.meta.url);

/** A recorded request with its answer. */
export interface Step {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly body: Json;
  readonly status: number;
  readonly answer: JsonObject;
  /** The dotted parts of the answer that were recorded; all of it if empty. */
  readonly keep: readonly string[];
}

/** The requests of a recorded case, in order. */
function stepsOf(name: string): readonly Step[] {
  const recorded: unknown = JSON.parse(readFileSync(new URL(`${name}.json`, fixtures), "utf8"));
  const steps = isJsonObject(recorded) && Array.isArray(recorded["steps"]) ? recorded["steps"] : [];
  return steps.flatMap((step: unknown) => {
    const { request, response, keep } = isJsonObject(step) ? step : {};
    if (!isJsonObject(request) || !isJsonObject(response)) return [];
    const { method, path, headers, body = null } = request;
    const url = new URL(typeof path === "string" ? path : "/", "http://api");
    const contentType = isJsonObject(headers) ? headers["content-type"] : undefined;
    return [
      {
        method: typeof method === "string" ? method : "",
        path: url.pathname,
        query: url.searchParams,
        contentType: typeof contentType === "string" ? contentType : "",
        body,
        status: typeof response["status"] === "number" ? response["status"] : 0,
        answer: isJsonObject(response["body"]) ? response["body"] : {},
        keep: Array.isArray(keep) ? keep.filter((path) => typeof path === "string") : [],
      },
    ];
  });
}

const path =
  /^\/(?:api|apis\/(?<group>[^/]+))\/(?<version>[^/]+)(?:\/namespaces\/[^/]+)?\/(?<plural>[^/]+)\/?(?<name>[^/]*)\/?(?<sub>[^/]*)$/;

function nameIn(body: Json): string {
  const metadata = isJsonObject(body) ? body["metadata"] : undefined;
  const name = isJsonObject(metadata) ? metadata["name"] : undefined;
  return typeof name === "string" ? name : "";
}

interface Addressed {
  readonly gvk: Gvk;
  readonly schema: TypeSchema;
  readonly key: string;
  readonly subresource: string | undefined;
}

function addressed(step: Step): Addressed | undefined {
  const { group = "", version = "", plural = "", name = "", sub = "" } = path.exec(step.path)?.groups ?? {};
  const resource = builtinResources.find(
    (known) => known.group === group && known.version === version && known.plural === plural,
  );
  if (resource === undefined || (sub !== "" && sub !== "status")) return undefined;
  const gvk = { group, version, kind: resource.kind };
  const schema = builtinSchema(gvk);
  return schema === undefined
    ? undefined
    : { gvk, schema, key: `${plural}/${name || nameIn(step.body)}`, subresource: sub === "" ? undefined : sub };
}

/** What a step answers when only the pure functions run: no admission, no validation, no allotted values. */
export type Replayed =
  | { readonly kind: "stored"; readonly object: ApiObject }
  | { readonly kind: "refused"; readonly error: StatusError };

/** Replays the writes of a case and hands each with its outcome to `check`, until a step is beyond the pure functions. */
export function replay(name: string, check: (step: Step, outcome: Replayed) => void): void {
  const objects = new Map<string, ApiObject>();
  for (const [index, step] of stepsOf(name).entries()) {
    const target = addressed(step);
    if (target === undefined) return;
    if (step.method === "GET" || step.query.has("dryRun")) continue;
    const now = `2026-01-01T00:00:${String(index).padStart(2, "0")}Z`;
    const stored = objects.get(target.key);
    const live = stored === undefined ? undefined : convertBuiltin(stored, formatApiVersion(target.gvk));
    const outcome = written(step, target, live, now);
    if (outcome === undefined) return;
    check(step, outcome);
    if (outcome.kind === "stored" && step.status < 300) objects.set(target.key, outcome.object);
    else if (outcome.kind === "stored") return;
  }
}

function written(step: Step, target: Addressed, live: ApiObject | undefined, now: string): Replayed | undefined {
  const apiVersion = formatApiVersion(target.gvk);
  const manager = step.query.get("fieldManager") ?? "vectors";
  const writer = {
    manager,
    apiVersion,
    schema: target.schema,
    now,
    isBuiltin: true,
    ...(target.subresource === undefined ? {} : { subresource: target.subresource }),
  };
  const stored = (object: ApiObject): ApiObject =>
    defaultObject(canonicalObject(withoutManagedFields(object), target.gvk, target.schema), target.gvk, target.schema);
  try {
    if (step.contentType === "application/apply-patch+yaml") {
      if (!isJsonObject(step.body)) return undefined;
      const force = step.query.get("force") === "true";
      const metadata = step.body["metadata"];
      const namespace =
        isJsonObject(metadata) && typeof metadata["namespace"] === "string" ? metadata["namespace"] : "";
      const { object, managedFields } = applyFields({
        ...writer,
        live,
        applied: step.body,
        force,
        namespaceInBody: namespace,
        gvk: target.gvk,
      });
      return { kind: "stored", object: finishApply(live, stored(object), managedFields).object };
    }
    const patched = step.method === "PATCH" ? patchedBy(step, live, target.schema) : step.body;
    if (!isJsonObject(patched)) return undefined;
    const managedFields = managedFieldsForUpdate(live, patched, target.subresource);
    const before = live === undefined ? undefined : withoutManagedFields(live);
    const after = stored(patched);
    return {
      kind: "stored",
      object: finishApply(live, after, trackUpdate({ ...writer, before, after, managedFields })).object,
    };
  } catch (error) {
    if (error instanceof StatusError) return { kind: "refused", error };
    if (error instanceof ConversionError) return undefined;
    throw error;
  }
}

function patchedBy(step: Step, live: ApiObject | undefined, schema: TypeSchema): ApiObject | undefined {
  if (live === undefined) return undefined;
  if (step.contentType === "application/json-patch+json") return jsonPatch(live, step.body);
  if (step.contentType === "application/merge-patch+json") return mergePatch(live, step.body);
  return step.contentType === "application/strategic-merge-patch+json"
    ? strategicMergePatch(live, step.body, schema)
    : undefined;
}
