import type { KeySource, RecipientKind } from "../key-source.ts";
import { SopsFault } from "../sops-fault.ts";

/** An entry of a decryption Secret that holds a key, under a name that is not read. */
interface Misnamed {
  readonly name: string;
  /** The name under which it is read. */
  readonly wanted: string;
}

const maxNamed = 3;

/** The key services whose credentials have one name, and how people write it. */
const services: readonly { readonly kind: RecipientKind; readonly written: RegExp; readonly wanted: string }[] = [
  { kind: "kms", written: /aws|\bkms/i, wanted: "sops.aws-kms" },
  { kind: "hc_vault", written: /vault.?token|hc.?vault/i, wanted: "sops.vault-token" },
  { kind: "azure_kv", written: /azure/i, wanted: "sops.azure-kv" },
  { kind: "gcp_kms", written: /gcp|google/i, wanted: "sops.gcp-kms" },
];

/**
 * Says of each recipient that nothing opens which entry of the Secret seems to hold its key, under a name that is not read: `age.key` in
 * place of `age.agekey`. Flux ignores such an entry without a word. Opens nothing.
 *
 * @param entries those that were not read
 */
export function misnamedEntries(entries: readonly (readonly [name: string, value: Buffer])[]): KeySource {
  return {
    open({ kind }) {
      const found = entries.flatMap(([name, value]) => misnamed(name, value, kind) ?? []);
      if (found.length === 0) return Promise.resolve(undefined);
      const texts = found
        .slice(0, maxNamed)
        .map(({ name, wanted }) => `'${name}' is not read: rename it to '${wanted}'`);
      return Promise.reject(new SopsFault(`in the decryption Secret ${texts.join("; ")}`));
    },
  };
}

function misnamed(name: string, value: Buffer, kind: RecipientKind): Misnamed | undefined {
  const wanted = wantedName(name, value, kind);
  return wanted === undefined ? undefined : { name, wanted };
}

function wantedName(name: string, value: Buffer, kind: RecipientKind): string | undefined {
  const stem = name.replace(/\.[^.]*$/, "");
  if (value.includes("AGE-SECRET-KEY-")) return kind === "age" ? `${stem}.agekey` : undefined;
  if (value.includes("BEGIN PGP PRIVATE KEY BLOCK")) return kind === "pgp" ? `${stem}.asc` : undefined;
  return services.find((service) => service.kind === kind && service.written.test(name))?.wanted;
}
