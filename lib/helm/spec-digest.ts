import type { HelmReleaseSpec } from "../api/helm-release-spec.ts";
import { digestOf } from "../core/digest.ts";
import { formatJson } from "../core/json.ts";

// As Go's JSON has the fields of Flux's types, followed by a line end (reference helmrelease 13).

/** Flux's digest of `spec.postRenderers`; empty without any. */
export function postRenderersDigest(renderers: HelmReleaseSpec["postRenderers"]): string {
  if (renderers === undefined || renderers.length === 0) return "";
  const ordered = renderers.map(({ kustomize }) => ({
    kustomize: kustomize && {
      patches: nonEmpty(
        kustomize.patches?.map(({ patch, target }) => ({
          patch,
          target: target && {
            group: nonEmpty(target.group),
            version: nonEmpty(target.version),
            kind: nonEmpty(target.kind),
            namespace: nonEmpty(target.namespace),
            name: nonEmpty(target.name),
            annotationSelector: nonEmpty(target.annotationSelector),
            labelSelector: nonEmpty(target.labelSelector),
          },
        })),
      ),
      images: nonEmpty(
        kustomize.images?.map(({ name, newName, newTag, digest }) => ({
          name,
          newName: nonEmpty(newName),
          newTag: nonEmpty(newTag),
          digest: nonEmpty(digest),
        })),
      ),
      // Fields of former API versions: Flux no longer has them.
      patchesStrategicMerge: nonEmpty(kustomize.patchesStrategicMerge?.map((patch) => formatJson(patch))),
      patchesJson6902: nonEmpty(kustomize.patchesJson6902?.map((patch) => formatJson(patch))),
    },
  }));
  return digestOf(goJson(ordered));
}

/** Flux's digest of `spec.commonMetadata`; empty without it. */
export function commonMetadataDigest(metadata: HelmReleaseSpec["commonMetadata"]): string {
  if (metadata === undefined) return "";
  return digestOf(goJson({ annotations: sorted(metadata.annotations), labels: sorted(metadata.labels) }));
}

/** Go leaves out an empty text or list of a field with `omitempty`. */
function nonEmpty<Value extends string | readonly unknown[]>(value: Value | undefined): Value | undefined {
  return value === undefined || value.length === 0 ? undefined : value;
}

/** As [key, value] pairs in the order of the keys, since JavaScript puts keys that look like numbers first. */
function sorted(map: Readonly<Record<string, string>> | undefined): SortedMap | undefined {
  if (map === undefined || Object.keys(map).length === 0) return undefined;
  return new SortedMap(Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

class SortedMap {
  readonly entries: readonly (readonly [string, string])[];
  constructor(entries: readonly (readonly [string, string])[]) {
    this.entries = entries;
  }
}

function goJson(value: unknown): string {
  return `${text(value)}\n`.replace(
    /[<>&\u2028\u2029]/gu,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function text(value: unknown): string {
  if (value instanceof SortedMap) {
    return `{${value.entries.map(([key, each]) => `${JSON.stringify(key)}:${JSON.stringify(each)}`).join(",")}}`;
  }
  if (Array.isArray(value)) return `[${value.map(text).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, each]) => each !== undefined);
    return `{${members.map(([key, each]) => `${JSON.stringify(key)}:${text(each)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}
