import type { ChosenImage } from "../image-change.ts";

/** The part of an image that a marker sets. */
export interface Marker {
  /** As the marker names it: `namespace:policy`, or with a part: `namespace:policy:tag`. */
  readonly setter: string;
  /** What its scalar becomes. */
  readonly value: string;
}

/** Longer than any pair of names. A longer comment is no marker. */
export const maxMarkerChars = 4_096;

const definitions = "#/definitions/io.k8s.cli.setters.";

/** The marker that a comment is; undefined if it is none, or none of these images. */
export function readMarker(comment: string, images: ReadonlyMap<string, ChosenImage>): Marker | undefined {
  if (comment.length > maxMarkerChars) return undefined;
  const fields = jsonObject(comment.replace(/^#+/, "").trim());
  if (fields === undefined) return undefined;
  return markerNamed(shortName(fields), images) ?? markerNamed(referredName(fields), images);
}

function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** `{"$imagepolicy": "namespace:policy"}`; the other fields must hold text as well. */
function shortName(fields: Readonly<Record<string, unknown>>): string | undefined {
  const areTexts = Object.values(fields).every((value) => typeof value === "string" || value === null);
  const name = fields["$imagepolicy"];
  return areTexts && typeof name === "string" ? name : undefined;
}

/** `{"$ref": "#/definitions/io.k8s.cli.setters.namespace:policy"}`, for which the first form is short. */
function referredName(fields: Readonly<Record<string, unknown>>): string | undefined {
  const reference = fields["$ref"];
  if (typeof reference !== "string" || !reference.startsWith(definitions)) return undefined;
  return reference.slice(definitions.length);
}

function markerNamed(setter: string | undefined, images: ReadonlyMap<string, ChosenImage>): Marker | undefined {
  if (setter === undefined) return undefined;
  const whole = images.get(setter);
  if (whole !== undefined) return { setter, value: referenceTo(whole) };
  const colon = setter.lastIndexOf(":");
  const image = images.get(setter.slice(0, Math.max(colon, 0)));
  if (image === undefined) return undefined;
  switch (setter.slice(colon + 1)) {
    case "name":
      return { setter, value: image.name };
    case "tag":
      return { setter, value: image.tag };
    case "digest":
      return { setter, value: image.digest ?? "" };
    default:
      return undefined;
  }
}

function referenceTo({ name, tag, digest = "" }: ChosenImage): string {
  return digest === "" ? `${name}:${tag}` : `${name}:${tag}@${digest}`;
}
