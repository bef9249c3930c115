import { formatLabel, type SopsFormat } from "../format.ts";
import { readMetadata, type SopsMetadata } from "../metadata.ts";
import { SopsFault } from "../sops-fault.ts";
import type { Steps } from "../steps.ts";
import { unflatten } from "../stores/flat-metadata.ts";
import type { Store } from "../stores/store.ts";
import { storeOf } from "../stores/stores.ts";
import { Branch, type Item, type Value } from "../tree.ts";

/** A file that sops has encrypted, its metadata apart from its documents. */
export interface EncryptedFile {
  readonly branches: readonly Branch[];
  readonly metadata: SopsMetadata;
}

/** Flux's limit, 5 MiB. */
export const maxFileBytes = 5 * 1024 * 1024;

/** Throws a {@link SopsFault} `failed to load encrypted <format> data: …`. */
export function* loadFile(bytes: Uint8Array, format: SopsFormat): Steps<EncryptedFile> {
  if (bytes.length > maxFileBytes) {
    throw new SopsFault(`cannot decrypt file with size (${bytes.length} bytes) exceeding limit (${maxFileBytes})`);
  }
  try {
    const store = storeOf(format);
    const load = store.load(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
    const loaded = Array.isArray(load) ? load : yield* load;
    return {
      branches: loaded.map((branch) => dataOf(branch, store)),
      metadata: readMetadata(metadataOf(loaded, store)),
    };
  } catch (error) {
    if (!(error instanceof SopsFault)) throw error;
    throw new SopsFault(`failed to load encrypted ${formatLabel[format]} data: ${error.message}`, { cause: error });
  }
}

const prefix = "sops_";

function isMetadata({ key }: Item, { metadata }: Store): boolean {
  return metadata === "prefix" ? typeof key === "string" && key.startsWith(prefix) : key === "sops";
}

function dataOf({ items }: Branch, store: Store): Branch {
  return new Branch(items.filter((item) => !isMetadata(item, store)));
}

/** That of the first document: sops repeats it in each. */
function metadataOf([first]: readonly Branch[], store: Store): Branch {
  const items = (first?.items ?? []).filter((item) => isMetadata(item, store));
  if (items.length === 0) throw new SopsFault("sops metadata not found");
  if (store.metadata === "prefix") {
    return unflatten(items.map(withoutPrefix));
  }
  const [only] = items;
  if (items.length > 1) throw new SopsFault("Found duplicate sops entry");
  if (!(only?.value instanceof Branch)) throw new SopsFault("Found sops entry that is not a mapping");
  return store.metadata === "nested" ? only.value : unflatten(only.value.items.map(withLineBreaks));
}

function withoutPrefix({ key, value }: Item): Item {
  return { key: typeof key === "string" ? key.slice(prefix.length) : key, value };
}

/** INI escapes the line breaks of the metadata. */
function withLineBreaks({ key, value }: Item): Item {
  return { key, value: unescaped(value) };
}

function unescaped(value: Value): Value {
  return typeof value === "string" ? value.replaceAll(String.raw`\n`, "\n") : value;
}
