import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Decryption } from "../../../../lib/manifests/decrypt/decryption.ts";
import { dataKeys } from "../../../../lib/sops/data-key.ts";
import { ageIdentities, ageKeys } from "../../../../lib/sops/keys/age.ts";

const fixtures = join(import.meta.dirname, "../../../fixtures/sops-stories");

/** A file that the real sops has encrypted; see the README beside them. */
export function encrypted(name: string): Buffer {
  return readFileSync(join(fixtures, "encrypted", name));
}

export function plain(name: string): Buffer {
  return readFileSync(join(fixtures, "plain", name));
}

/** Decryption with the age key of the fixtures, or with another one, which opens nothing of them. */
export function decryptionWith(fields: Partial<Decryption> = {}, key: "age" | "another" = "age"): Decryption {
  const identities = ageIdentities(readFileSync(join(fixtures, "keys", `${key}.agekey`)).toString());
  return { keys: async () => dataKeys([ageKeys(identities)]), ignoreMac: false, namesOnly: false, ...fields };
}
