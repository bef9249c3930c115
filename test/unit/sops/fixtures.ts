import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type DataKeys, dataKeys } from "../../../lib/sops/data-key.ts";
import { ageIdentities, ageKeys } from "../../../lib/sops/keys/age.ts";

const root = join(import.meta.dirname, "../../fixtures/sops");

/** A file that the real sops has made; see the README beside them. */
export function fixture(path: string): Buffer {
  return readFileSync(join(root, path));
}

/** The identities of `keys/NAME.agekey`. */
export function identities(...names: ("first" | "second" | "post-quantum")[]): string[] {
  return names.flatMap((name) => ageIdentities(fixture(`keys/${name}.agekey`).toString()));
}

/** The data keys that all keys of the fixtures open. */
export function allKeys(): DataKeys {
  return dataKeys([ageKeys(identities("first", "second", "post-quantum"))]);
}

export const never = new AbortController().signal;
