import { isJsonList, isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { isEncryptedValue } from "./cipher.ts";
import type { DataKeys } from "./data-key.ts";
import { decryptScalar } from "./decrypt-tree.ts";
import { encryptionTest, isCommentRule } from "./encryption-rule.ts";
import { branchOfJson, jsonOfScalar } from "./json-tree.ts";
import { readMetadata, type SopsMetadata } from "./metadata.ts";
import { SopsFault } from "./sops-fault.ts";
import { Branch, SopsComment } from "./tree.ts";

/** Whether an object holds values that sops has encrypted: it has `sops.mac` (kustomization.md 3.10). */
export function isEncryptedObject(object: JsonObject): boolean {
  const { sops } = object;
  return isJsonObject(sops) && sops["mac"] !== undefined && sops["mac"] !== null && sops["mac"] !== "";
}

/** The metadata of an object under `sops`. Throws a {@link SopsFault}. */
export function objectMetadata(object: JsonObject): SopsMetadata {
  const { sops } = object;
  if (sops === undefined) throw loadFault("sops metadata not found");
  if (!isJsonObject(sops)) throw loadFault("Found sops entry that is not a mapping");
  try {
    const branch = branchOfJson(sops);
    return readMetadata(branch instanceof Branch ? branch : new Branch([]));
  } catch (error) {
    if (!(error instanceof SopsFault)) throw error;
    throw loadFault(error.message);
  }
}

function loadFault(text: string): SopsFault {
  return new SopsFault(`failed to load encrypted JSON data: ${text}`);
}

/**
 * Decrypts the values of a built object, and takes `sops` out of it. Each value is authenticated with its path, but not that none
 * is missing or added: the MAC is over the file as it was before the build, see {@link verifyFile}. Throws a {@link SopsFault} or
 * the reason of the signal.
 */
export async function decryptObject(object: JsonObject, keys: DataKeys, signal: AbortSignal): Promise<JsonObject> {
  const metadata = objectMetadata(object);
  const dataKey = await keys.of(metadata, signal);
  const { sops: _, ...rest } = object;
  try {
    return decryptFields(rest, [], leafDecryption(metadata, dataKey));
  } catch (error) {
    if (!(error instanceof SopsFault)) throw error;
    throw new SopsFault(`error decrypting sops tree: Error walking tree: ${error.message}`, { cause: error });
  }
}

type Scalar = Exclude<Json, JsonObject | readonly Json[]>;

/** Decrypts a value; undefined for a comment, which sops has made an item of a list. */
type DecryptLeaf = (value: Scalar, path: readonly string[]) => Json | undefined;

function leafDecryption({ rule }: SopsMetadata, dataKey: Uint8Array): DecryptLeaf {
  // The build has dropped the comments that would tell, so the form of a value has to.
  const isEncrypted = encryptionTest(rule);
  const isOpen = isCommentRule(rule)
    ? (value: Scalar): boolean => !(typeof value === "string" && isEncryptedValue(value))
    : (_: Scalar, path: readonly string[]): boolean => !isEncrypted(path, [], false);
  return (value, path) => {
    if (value === null || isOpen(value, path)) return value;
    const plain = decryptScalar(value, dataKey, path);
    return plain instanceof SopsComment ? undefined : jsonOfScalar(plain);
  };
}

function decryptFields(object: JsonObject, path: readonly string[], leaf: DecryptLeaf): JsonObject {
  const fields = Object.entries(object).map(([key, value]) => {
    const plain = decryptJson(value, [...path, key], leaf);
    if (plain === undefined) throw new SopsFault("a decrypted value is a comment");
    return [key, plain] as const;
  });
  return Object.fromEntries(fields);
}

function decryptJson(value: Json, path: readonly string[], leaf: DecryptLeaf): Json | undefined {
  if (isJsonList(value)) return value.map((item) => decryptJson(item, path, leaf)).filter((item) => item !== undefined);
  return isJsonObject(value) ? decryptFields(value, path, leaf) : leaf(value, path);
}
