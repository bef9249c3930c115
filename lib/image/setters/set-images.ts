import { isUtf8 } from "node:buffer";
import { getScalarValue, SCALAR_STYLE, type ScalarEvent } from "js-yaml";
import type { ChangedObject, ChosenImage, FileChange, ImageChange } from "../image-change.ts";
import { type Edit, editsOf } from "./edit-scalar.ts";
import { type CommentedScalar, commentedScalars, type ObjectFields } from "./marked-scalars.ts";
import { readMarker } from "./marker.ts";
import { type DocumentEvents, readDocuments } from "./read-documents.ts";
import { mayHoldMarkers } from "./setter-file.ts";

/** The limit for a file that may hold markers. */
export const maxSetterFileBytes = 5 * 1_048_576;
/** Scalars of a file that markers set. */
export const maxChangesPerFile = 10_000;

/** A file that may hold markers. */
export interface SetterFile {
  /** Relative to `spec.update.path`. */
  readonly path: string;
  readonly content: Uint8Array;
}

/**
 * The file with the images in place of what its markers mark, in steps; undefined if nothing changes. Every other byte stays. Answers
 * `unreadable` for a file with the field of a marker that is not YAML of objects.
 *
 * @throws RangeError if a file with markers is beyond a limit
 */
export function* settingImages(
  { path, content }: SetterFile,
  images: ReadonlyMap<string, ChosenImage>,
): Generator<undefined, FileChange | "unreadable" | undefined> {
  if (!mayHoldMarkers(content)) return undefined;
  if (content.byteLength > maxSetterFileBytes) {
    const what = `${path} holds image policy markers and has more than ${maxSetterFileBytes} bytes`;
    throw new RangeError(`${what}: move the parts without markers to another file`);
  }
  if (!isUtf8(content)) return "unreadable";
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(content);
  const changes = new Changes(path);
  const areReadable = yield* readDocuments(path, text, (document) => {
    const scalars = commentedScalars(document);
    if (scalars !== undefined) changes.add(document, scalars, images);
    return scalars !== undefined;
  });
  if (!areReadable) return "unreadable";
  if (changes.edits.length === 0) return undefined;
  return { path, content: Buffer.from(edited(text, changes.edits)), objects: changes.objects() };
}

interface ChangesOfObject {
  readonly object: ChangedObject;
  readonly changes: ImageChange[];
}

/** The changes in one file. */
class Changes {
  readonly edits: Edit[] = [];
  readonly #path: string;
  readonly #byObject = new Map<string, ChangesOfObject>();
  #count = 0;

  constructor(path: string) {
    this.#path = path;
  }

  add(document: DocumentEvents, scalars: readonly CommentedScalar[], images: ReadonlyMap<string, ChosenImage>): void {
    const { text, placeOf } = document;
    const values = new Map<ScalarEvent, string>();
    const set: (ImageChange & { readonly fields: ObjectFields })[] = [];
    for (const scalar of scalars) {
      const marker = readMarker(scalar.comment, images);
      if (marker === undefined) continue;
      const oldValue = getScalarValue(text, scalar.event);
      if (oldValue === marker.value) continue;
      this.#countOne();
      for (const { start, end, ...edit } of editsOf(text, scalar, marker.value)) {
        this.edits.push({ ...edit, start: placeOf(start), end: placeOf(end) });
      }
      values.set(scalar.event, marker.value);
      set.push({ oldValue, newValue: marker.value, setter: marker.setter, fields: scalar.object });
    }
    for (const { fields, ...change } of set) this.#of(objectOf(text, fields, values)).changes.push(change);
  }

  /** In the order of the file; documents that name the same object are one. */
  objects(): readonly ChangesOfObject[] {
    return [...this.#byObject.values()];
  }

  #countOne(): void {
    this.#count++;
    if (this.#count <= maxChangesPerFile) return;
    throw new RangeError(
      `${this.#path} has more than ${maxChangesPerFile} image policy markers: split it into several files`,
    );
  }

  #of(object: ChangedObject): ChangesOfObject {
    const key = JSON.stringify([object.apiVersion, object.kind, object.namespace, object.name]);
    const found = this.#byObject.get(key) ?? { object, changes: [] };
    this.#byObject.set(key, found);
    return found;
  }
}

/** As the object is named once the values are set. */
function objectOf(text: string, fields: ObjectFields, values: ReadonlyMap<ScalarEvent, string>): ChangedObject {
  const textOf = (scalar: ScalarEvent | undefined): string => {
    if (scalar === undefined) return "";
    const value = values.get(scalar) ?? getScalarValue(text, scalar);
    return scalar.style === SCALAR_STYLE.PLAIN && /^(~|null|Null|NULL)$/.test(value) ? "" : value;
  };
  return {
    apiVersion: textOf(fields.apiVersion),
    kind: textOf(fields.kind),
    namespace: textOf(fields.namespace),
    name: textOf(fields.name),
  };
}

/** The edits are in the order of the text, and apart. */
function edited(text: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const edit of edits) {
    parts.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  return `${parts.join("")}${text.slice(at)}`;
}
