import { ownerLabels } from "../api/names.ts";
import { equal, isJsonObject } from "../core/json.ts";
import type { LiveObject } from "../core/manifest.ts";
import { ownedButIgnored, withoutIgnored } from "./ignored-fields.ts";
import { ownFields } from "./set/field-managers.ts";
import { kustomizationStyle, type OwnerStyle } from "./set/owner-style.ts";

/**
 * Whether the apply would change the live object: its labels, annotations, finalizers, owner references, any field but `status`, or which
 * fields we own (a field that happens to have our value but is not ours would drift unseen later). Fields that are ignored do not count.
 */
export function drifted(
  live: LiveObject,
  dryRun: LiveObject,
  ignored: readonly string[] = [],
  style: Pick<OwnerStyle, "manager"> = kustomizationStyle,
): boolean {
  return !equal(comparable(live, ignored, style), comparable(dryRun, ignored, style));
}

function comparable(object: LiveObject, ignored: readonly string[], style: Pick<OwnerStyle, "manager">): unknown {
  const { labels: own = {}, managedFields } = object.metadata;
  const { metadata, status: _status, ...content } = ignored.length === 0 ? object : withoutIgnored(object, ignored);
  const { labels, annotations, finalizers, ownerReferences } = isJsonObject(metadata) ? metadata : object.metadata;
  const fields = ownFields(managedFields, style);
  return {
    content,
    labels: labels ?? {},
    annotations: annotations ?? {},
    finalizers: finalizers ?? [],
    ownerReferences: ownerReferences ?? [],
    // Without them the object would not be ours: they are never ignored.
    owner: ownerLabelKeys.map((key) => own[key]),
    fields: fields && { ...fields, fieldsV1: ownedButIgnored(fields.fieldsV1 ?? {}, object, ignored) },
  };
}

const ownerLabelKeys = Object.keys(ownerLabels({ name: "", namespace: "" }));
