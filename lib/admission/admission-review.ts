import { z } from "zod";
import { parseJson } from "../core/json.ts";
import { type Look, maxVersionChars } from "../core/ports/wake-ups.ts";
import { safeText } from "../core/safe-text.ts";
import { formatWorkKey } from "../core/work-key.ts";

/** The largest review, in bytes. An object has at most 3 MB, and a review has it twice; Lambda takes 6 MB. */
export const maxReviewBytes = 8 * 1024 * 1024;
/** A name in Kubernetes, in characters. */
export const maxNameChars = 253;

const text = z.string().max(maxNameChars);
const Metadata = z.object({
  metadata: z.object({
    name: text.optional(),
    uid: z.string().max(maxVersionChars).optional(),
    resourceVersion: z.string().max(maxVersionChars).optional(),
  }),
});
type Metadata = z.infer<typeof Metadata>;

/** The part of a review that is read: which object is about to change. The content of the object is not read. */
const Review = z.object({
  request: z.object({
    uid: z.string().max(maxVersionChars),
    operation: z.enum(["CREATE", "UPDATE", "DELETE"]),
    kind: z.object({ group: text, kind: text.min(1) }),
    subResource: text.optional(),
    namespace: text.default(""),
    name: text.default(""),
    dryRun: z.boolean().default(false),
    object: Metadata.nullish(),
    oldObject: Metadata.nullish(),
  }),
});
const Uid = z.object({ request: z.object({ uid: z.string().max(maxVersionChars) }) });

export interface AdmissionReview {
  /** The uid of the review; empty if it has no readable uid, and then the API server takes no answer. */
  readonly uid: string;
  /** Absent if nothing can be read from it: nonsense, a subresource, an operation that changes no object. */
  readonly change?: Omit<z.infer<typeof Review>["request"], "subResource">;
}

/** Reads an `admission.k8s.io/v1` AdmissionReview. Never throws. */
export function readReview(body: Uint8Array): AdmissionReview {
  if (body.byteLength > maxReviewBytes) return { uid: "" };
  const json = jsonOf(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString());
  const review = Review.safeParse(json);
  if (!review.success) return { uid: Uid.safeParse(json).data?.request.uid ?? "" };
  const { subResource = "", ...change } = review.data.request;
  return { uid: change.uid, ...(subResource === "" ? { change } : {}) };
}

/** The answer: always yes. */
export function allowed(uid: string, warnings: readonly string[] = []): string {
  const response = { uid, allowed: true, ...(warnings.length === 0 ? {} : { warnings: warnings.map(safeText) }) };
  return JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response });
}

/** Where to look for the change, in this cluster. Undefined for an object without a name. */
export function lookOf(change: NonNullable<AdmissionReview["change"]>, cluster: string): Look | undefined {
  const { kind, namespace, object, oldObject, operation } = change;
  // A name that the API server generates is in the object only.
  const name = change.name === "" ? (object?.metadata.name ?? "") : change.name;
  if (name === "" || `${namespace}${name}${kind.kind}${kind.group}`.includes("/")) return undefined;
  const key = formatWorkKey({ cluster, group: kind.group, kind: kind.kind, namespace, name });
  const before = operation === "CREATE" ? undefined : versionOf(oldObject);
  return { key, tries: 0, ...(before === undefined ? {} : { before }) };
}

function versionOf(object: Metadata | null | undefined): Look["before"] {
  const { uid = "", resourceVersion = "" } = object?.metadata ?? {};
  return { uid, resourceVersion };
}

function jsonOf(body: string): unknown {
  try {
    return parseJson(body);
  } catch {
    return undefined;
  }
}
