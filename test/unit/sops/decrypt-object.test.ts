import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { isJsonObject, type JsonObject, toJson } from "../../../lib/core/json.ts";
import { decryptObject, isEncryptedObject } from "../../../lib/sops/decrypt-object.ts";
import { allKeys, fixture, never } from "./fixtures.ts";

function objectOf(path: string): JsonObject {
  const parsed: unknown = parseDocument(fixture(path).toString()).toJS();
  const json = toJson(parsed);
  if (!isJsonObject(json)) throw new TypeError(`${path} is not an object`);
  return json;
}

describe("an object with encrypted values", () => {
  const names = ["secret.regex.yaml", "secret.post-quantum.yaml", "secret.two-keys.yaml", "secret.mac-only.yaml"];
  test.each(names)("is decrypted, and loses its field sops: %s", async (name) => {
    const encrypted = objectOf(`encrypted/${name}`);
    expect(isEncryptedObject(encrypted)).toBe(true);
    expect(await decryptObject(encrypted, allKeys(), never)).toEqual(objectOf("plain/secret.regex.yaml"));
  });

  test("is refused if a value is moved to another place", async () => {
    const encrypted = objectOf("encrypted/secret.regex.yaml");
    const { stringData } = encrypted;
    const moved = { ...encrypted, stringData: {}, data: stringData ?? {} };
    await expect(decryptObject(moved, allKeys(), never)).rejects.toThrow(
      "error decrypting sops tree: Error walking tree: Could not decrypt value: " +
        "Could not decrypt with AES_GCM: cipher: message authentication failed",
    );
  });
});
