import type { ChosenImage, FileChange } from "../../../../lib/image/image-change.ts";
import { type SetterFile, settingImages } from "../../../../lib/image/setters/set-images.ts";

/** The images of these tests, by setter. */
export const images: ReadonlyMap<string, ChosenImage> = new Map(
  [
    { setter: "apps:web", name: "registry.test/web", tag: "1.1.0" },
    { setter: "apps:pinned", name: "registry.test/pinned", tag: "2.0.0", digest: "sha256:abc" },
    { setter: "apps:short", name: "registry.test/short", tag: "1.10" },
  ].map((image) => [image.setter, image]),
);

/** A marker, as it follows a value: ` # {"$imagepolicy": "apps:web:tag"}`. */
export function mark(setter: string): string {
  return ` # {"$imagepolicy": "${setter}"}`;
}

/** The file with its markers set; undefined if nothing changes, and if it is not YAML. */
export function setImages(file: SetterFile, chosen: ReadonlyMap<string, ChosenImage>): FileChange | undefined {
  const steps = settingImages(file, chosen);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value === "unreadable" ? undefined : step.value;
  }
}

export function changeOf(text: string, chosen = images): FileChange | undefined {
  return setImages({ path: "a.yaml", content: Buffer.from(text) }, chosen);
}

/** The file with its markers set; the same text if nothing changes. */
export function setText(text: string, chosen = images): string {
  const change = changeOf(text, chosen);
  return change === undefined ? text : Buffer.from(change.content).toString();
}
