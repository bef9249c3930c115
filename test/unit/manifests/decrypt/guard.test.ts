import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { encryptedSecret } from "../../../../lib/manifests/decrypt/guard.ts";

const annotation = "kustomize.toolkit.fluxcd.io/decrypt";

function secret(fields: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "x", namespace: "n", ...metadata },
    data: { a: "ENC[…]" },
    sops: { mac: "ENC[…]" },
    ...fields,
  };
}

describe("the check for Secrets that are still encrypted", () => {
  test("names the first one, even with only stringData encrypted and with any content in the field sops (66)", () => {
    const says = "Secret/n/x is SOPS encrypted, configuring decryption is required for this secret to be reconciled";
    expect(encryptedSecret([{ apiVersion: "v1", kind: "Secret", metadata: { name: "plain" } }, secret()])).toBe(says);
    expect(encryptedSecret([secret({ sops: {} })])).toBe(says);
    expect(encryptedSecret([secret({ sops: null })])).toBe(says);
    const { data: _data, ...withoutData } = secret({ stringData: { a: "ENC[…]" } });
    expect(encryptedSecret([withoutData])).toBe(says);
  });

  test("allows unencrypted Secrets, other kinds, and a Secret with the annotation, in any letter case (67)", () => {
    const { sops: _sops, ...plain } = secret();
    expect(
      encryptedSecret([plain, secret({ kind: "ConfigMap" }), secret({ apiVersion: "example.com/v1" })]),
    ).toBeUndefined();
    for (const value of ["disabled", "Disabled", "DISABLED"]) {
      expect(encryptedSecret([secret({}, { annotations: { [annotation]: value } })])).toBeUndefined();
    }
  });

  test("ignores a label and other values", () => {
    expect(encryptedSecret([secret({}, { labels: { [annotation]: "disabled" } })])).toContain("Secret/n/x is");
    expect(encryptedSecret([secret({}, { annotations: { [annotation]: "true" } })])).toContain("Secret/n/x is");
  });
});
