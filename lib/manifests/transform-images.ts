import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { SpecImage } from "./build-spec.ts";
import { plainValue } from "./go-yaml/scalar.ts";
import { Undecided } from "./read-failure.ts";

/** kustomize uses the unescaped name as a pattern. For these names it is clear what that matches. */
const plainImageName = /^[A-Za-z0-9._/:-]+$/;

/**
 * kustomize's image transformer: changes `image` of everything listed under `containers` or `initContainers` at any depth.
 * Definitions of custom resources are left alone. Throws {@link Undecided} for a volume made of an image.
 */
export function transformImages<Item extends JsonObject & { readonly kind: string }>(
  object: Item,
  images: readonly SpecImage[],
): Item {
  if (object.kind === "CustomResourceDefinition" || images.length === 0) return object;
  let result: Json = object;
  for (const image of images) {
    if (!plainImageName.test(image.name)) throw new Undecided("an image name that is a pattern");
    const pattern = new RegExp(`^${image.name}(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$`);
    result = walk(result, (current) => (pattern.test(current) ? renamed(current, image) : current));
  }
  if (mentionsImageVolume(object)) throw new Undecided("a volume made of an image");
  return { ...object, ...(isJsonObject(result) ? result : {}) };
}

function walk(value: Json, rename: (image: string) => string): Json {
  if (Array.isArray(value)) return value.map((item: Json) => walk(item, rename));
  if (!isJsonObject(value)) return value;
  const copy: { [key: string]: Json } = {};
  for (const [key, inner] of Object.entries(value)) {
    const walked = walk(inner, rename);
    copy[key] = key === "containers" || key === "initContainers" ? renameAll(walked, rename) : walked;
  }
  return copy;
}

function renameAll(containers: Json, rename: (image: string) => string): Json {
  if (!Array.isArray(containers)) throw new Undecided("containers that are not a list");
  return containers.map((container: Json) => {
    if (!isJsonObject(container)) throw new Undecided("a container that is not a mapping");
    const { image } = container;
    if (image === undefined) return container;
    if (typeof image !== "string") throw new Undecided("an image that is not a string");
    return { ...container, image: rename(image) };
  });
}

function renamed(current: string, image: SpecImage): string {
  const { name, tag, digest } = split(current);
  const version =
    (image.newTag ?? "") !== "" || (image.digest ?? "") !== ""
      ? { tag: image.newTag ?? "", digest: image.digest ?? "" }
      : { tag, digest };
  const newName = (image.newName ?? "") === "" ? name : (image.newName ?? name);
  const result = `${newName}${version.tag === "" ? "" : `:${version.tag}`}${version.digest === "" ? "" : `@${version.digest}`}`;
  const reads = plainValue(result);
  if (reads?.value !== result) throw new Undecided("an image that is not read back as a string");
  return result;
}

/** Name, tag and digest; a colon before the first slash belongs to the registry's port. */
function split(image: string): { name: string; tag: string; digest: string } {
  const from = Math.max(image.indexOf("/"), 0);
  const at = image.indexOf("@", from);
  const colon = image.indexOf(":", from);
  if (at >= 0 && (at < colon || colon < 0)) return { name: image.slice(0, at), tag: "", digest: image.slice(at + 1) };
  if (colon < 0) return { name: image, tag: "", digest: "" };
  if (at < 0) return { name: image.slice(0, colon), tag: image.slice(colon + 1), digest: "" };
  return { name: image.slice(0, colon), tag: image.slice(colon + 1, at), digest: image.slice(at + 1) };
}

function mentionsImageVolume(value: Json): boolean {
  if (Array.isArray(value)) return value.some(mentionsImageVolume);
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(
    ([key, inner]) =>
      (key === "volumes" &&
        Array.isArray(inner) &&
        inner.some((volume: Json) => isJsonObject(volume) && "image" in volume)) ||
      mentionsImageVolume(inner),
  );
}
