import { Failure } from "../../core/failure.ts";
import type { DataKeys } from "../../sops/data-key.ts";

/** What `spec.decryption` brings into a build. */
export interface Decryption {
  /**
   * The keys, for one run. Asked for once, before the build, also where nothing turns out to be encrypted. Throws a `Failure`
   * `BuildFailed` in Flux's words, or an `Outage`.
   */
  readonly keys: () => Promise<DataKeys>;
  /** Leaves the message authentication codes of files unchecked, as Flux does. */
  readonly ignoreMac: boolean;
  /**
   * The build is not applied: only the names of its objects matter. Then content that cannot be decrypted stays as it is, and values that
   * no name depends on are not decrypted.
   */
  readonly namesOnly: boolean;
}

/** Decryption with the keys at hand. */
export interface Decrypter {
  readonly keys: DataKeys;
  readonly ignoreMac: boolean;
  readonly namesOnly: boolean;
}

/** Why a file cannot be decrypted, with the file, and with what to do where the words of sops do not say it. */
export function faultOfFile(words: string, path: string): string {
  const mend = words.endsWith("MAC mismatch")
    ? ": a field was changed, added or removed after the encryption. Restore the file, and change it with sops edit"
    : "";
  return `${words} (${path})${mend}`;
}

/** Undefined if the keys cannot be had and only names matter. */
export async function openDecryption({ keys, ignoreMac, namesOnly }: Decryption): Promise<Decrypter | undefined> {
  try {
    return { keys: await keys(), ignoreMac, namesOnly };
  } catch (error) {
    if (namesOnly && error instanceof Failure) return undefined;
    throw error;
  }
}
