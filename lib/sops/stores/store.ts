import type { Steps } from "../steps.ts";
import type { Branch } from "../tree.ts";

/** One format: reads bytes into trees and writes trees as bytes, as the store of sops does. */
export interface Store {
  /** Where the metadata stands: under `sops`, flat under `sops`, or flat beside the data with `sops_` in front. */
  readonly metadata: "nested" | "section" | "prefix";
  /** One branch for each document. Throws a {@link SopsFault} that shows nothing of the text. */
  load(text: string): Branch[] | Steps<Branch[]>;
  /** Throws a {@link SopsFault} for what the format has no form for. */
  emit(branches: readonly Branch[]): string | Uint8Array;
}
