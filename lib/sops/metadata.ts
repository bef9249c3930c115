import { defaultRule, type EncryptionRule, ruleKinds } from "./encryption-rule.ts";
import { goTime } from "./go-values.ts";
import type { Recipient, RecipientKind } from "./key-source.ts";
import { SopsFault } from "./sops-fault.ts";
import { Branch, isList, SopsTime, type Value } from "./tree.ts";

/** The metadata in a file that sops has encrypted. */
export interface SopsMetadata {
  /** Encrypted like a value, bound to `lastModified`; empty if the file has none. */
  readonly mac: string;
  /** RFC 3339, with seconds. */
  readonly lastModified: string;
  readonly version: string;
  /** With one group each of its recipients opens the data key, with several a share of it. */
  readonly keyGroups: readonly (readonly Recipient[])[];
  /** How many groups have to open their share; 0 if the file does not say. */
  readonly shamirThreshold: number;
  readonly rule: EncryptionRule;
  /** The MAC is over encrypted values alone. */
  readonly macOnlyEncrypted: boolean;
}

/** HashiCorp's scheme knows 255 shares; real files have far fewer groups, and each group may ask a key service. */
export const maxGroups = 32;
export const maxRecipients = 256;
/** A data key for an OpenPGP key of 16 kbit has 3 KB, for a post-quantum key of age 2 KB. */
export const maxEncChars = 64 * 1024;
export const maxTextChars = 4096;

/** Reads the branch under `sops`. Throws a {@link SopsFault}. */
export function readMetadata(sops: Branch): SopsMetadata {
  const fields = new Fields(sops);
  const lastModified = goTime(fields.text("lastmodified"));
  if (lastModified === undefined) throw new SopsFault("lastmodified in the sops metadata is not an RFC 3339 time");
  return {
    mac: fields.text("mac"),
    lastModified: lastModified.seconds,
    version: fields.text("version"),
    keyGroups: keyGroups(fields),
    shamirThreshold: fields.count("shamir_threshold"),
    rule: ruleOf(fields),
    macOnlyEncrypted: fields.flag("mac_only_encrypted"),
  };
}

function ruleOf(fields: Fields): EncryptionRule {
  const rules = ruleKinds.map((kind) => ({ kind, text: fields.text(kind) })).filter(({ text }) => text !== "");
  if (rules.length > 1) {
    throw new SopsFault(
      "Cannot use more than one of encrypted_suffix, unencrypted_suffix, encrypted_regex, unencrypted_regex, " +
        "encrypted_comment_regex, or unencrypted_comment_regex in the same file",
    );
  }
  return rules[0] ?? defaultRule;
}

function keyGroups(fields: Fields): Recipient[][] {
  const own = groupOf(fields);
  const groups = own.length > 0 ? [own] : fields.list("key_groups").map(groupOf);
  if (groups.length === 0) throw new SopsFault("No keys found in file");
  if (groups.length > maxGroups) throw new SopsFault(`the sops metadata has more than ${maxGroups} key groups`);
  if (groups.flat().length > maxRecipients)
    throw new SopsFault(`the sops metadata has more than ${maxRecipients} keys`);
  return groups;
}

/** In the order in which sops tries them: age and OpenPGP first, since they ask no service. */
const orderOfKinds: readonly RecipientKind[] = ["age", "pgp", "kms", "gcp_kms", "hckms", "azure_kv", "hc_vault"];

function groupOf(group: Fields): Recipient[] {
  return orderOfKinds.flatMap((kind) => group.list(kind).map((key) => recipientOf(kind, key)));
}

function recipientOf(kind: RecipientKind, key: Fields): Recipient {
  const enc = key.text("enc", maxEncChars);
  switch (kind) {
    case "age":
      return { kind, recipient: key.text("recipient"), enc };
    case "pgp":
      return { kind, fingerprint: key.text("fp"), enc };
    case "kms":
      return {
        kind,
        arn: key.text("arn"),
        role: key.text("role") || undefined,
        context: key.texts("context"),
        awsProfile: key.text("aws_profile") || undefined,
        enc,
      };
    case "gcp_kms":
      return { kind, resourceId: key.text("resource_id"), enc };
    case "hckms":
      return { kind, keyId: key.text("key_id"), enc };
    case "azure_kv":
      return { kind, vaultUrl: key.text("vault_url"), keyName: key.text("name"), version: key.text("version"), enc };
    case "hc_vault":
      return {
        kind,
        vaultAddress: key.text("vault_address"),
        enginePath: key.text("engine_path"),
        keyName: key.text("key_name"),
        enc,
      };
  }
}

/** Fields of a branch, read as weakly as sops reads them: formats without types hold all of them as texts. */
class Fields {
  readonly #branch: Branch;

  constructor(branch: Branch) {
    this.#branch = branch;
  }

  text(name: string, maxChars = maxTextChars): string {
    const text = textOf(this.#branch.get(name));
    if (text === undefined) throw new SopsFault(`${name} in the sops metadata is not a text`);
    if (text.length > maxChars)
      throw new SopsFault(`${name} in the sops metadata has more than ${maxChars} characters`);
    return text;
  }

  count(name: string): number {
    const text = this.text(name);
    if (!/^[0-9]{0,3}$/.test(text)) throw new SopsFault(`${name} in the sops metadata is not a small number`);
    return Number(text);
  }

  flag(name: string): boolean {
    const text = this.text(name);
    if (["", "0", "f", "F", "false", "False", "FALSE"].includes(text)) return false;
    if (["1", "t", "T", "true", "True", "TRUE"].includes(text)) return true;
    throw new SopsFault(`${name} in the sops metadata is neither true nor false`);
  }

  list(name: string): Fields[] {
    const value = this.#branch.get(name) ?? [];
    const items = isList(value) ? value : [value];
    if (items.length > maxRecipients)
      throw new SopsFault(`${name} in the sops metadata has more than ${maxRecipients} items`);
    return items.map((item) => {
      if (!(item instanceof Branch)) throw new SopsFault(`${name} in the sops metadata is not a list of mappings`);
      return new Fields(item);
    });
  }

  texts(name: string): Record<string, string> {
    const value = this.#branch.get(name) ?? new Branch([]);
    if (!(value instanceof Branch)) throw new SopsFault(`${name} in the sops metadata is not a mapping`);
    const fields = new Fields(value);
    const keys = value.items.flatMap(({ key }) => (typeof key === "string" ? [key] : []));
    return Object.fromEntries(keys.map((key) => [key, fields.text(key)]));
  }
}

function textOf(value: Value | undefined): string | undefined {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (value instanceof SopsTime) return value.text;
  return typeof value === "bigint" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined;
}
