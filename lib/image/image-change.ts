import type { ImageRef } from "../api/image-policy.ts";

/** An image that a marker may set, of a policy of the automation's namespace. */
export interface ChosenImage extends ImageRef {
  /** `namespace:policy`, as markers name it. */
  readonly setter: string;
}

/** A change of one marked value. */
export interface ImageChange {
  readonly oldValue: string;
  readonly newValue: string;
  /** `namespace:policy`, or with the part after it: `namespace:policy:tag`. */
  readonly setter: string;
}

/** The object that a change lies in; each text is empty where the document does not have it. */
export interface ChangedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The changes of one object of one file. */
export interface ObjectChanges {
  readonly object: ChangedObject;
  readonly changes: readonly ImageChange[];
}

/** A file that markers have changed. */
export interface FileChange {
  /** Relative to `spec.update.path`. */
  readonly path: string;
  readonly content: Uint8Array;
  /** In the order of the file. */
  readonly objects: readonly ObjectChanges[];
}
