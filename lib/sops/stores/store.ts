import type { Steps } from "../steps.ts";
import type { Branch } from "../tree.ts";

/** One format: reads bytes into trees and writes trees as bytes, as the store of sops does. */
export interface Store {
  /** Where the metadata is: under `sops`, flat under `sops`, or flat among the data with the prefix `sops_`. */
  readonly metadata: "nested" | "section" | "prefix";
  /** One branch for each document. Throws a {@link SopsFault} that shows nothing of the text. */
  load(text: string): Branch[] | Steps<Branch[]>;
  /** Throws a {@link SopsFault} for what the format has no form for. */
  emit(branches: readonly Branch[]): string | Uint8Array;
}
