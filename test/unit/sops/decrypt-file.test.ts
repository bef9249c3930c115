import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { decryptFile, verifyFile } from "../../../lib/sops/file/decrypt-file.ts";
import type { SopsFormat } from "../../../lib/sops/format.ts";
import { formatOfName } from "../../../lib/sops/format.ts";
import { allKeys, fixture, never } from "./fixtures.ts";

const names = readdirSync(join(import.meta.dirname, "../../fixtures/sops/encrypted")).toSorted();

async function decrypt(name: string, ignoreMac = false): Promise<string> {
  const format: SopsFormat = formatOfName(name);
  const bytes = await decryptFile(
    fixture(`encrypted/${name}`),
    { input: format, output: format, ignoreMac },
    allKeys(),
    never,
  );
  return Buffer.from(bytes).toString("latin1");
}

describe("a file that the real sops has encrypted", () => {
  test.each(names.filter((name) => name !== "list-comment.yaml"))("is decrypted byte for byte: %s", async (name) => {
    expect(await decrypt(name)).toBe(fixture(`decrypted/${name}`).toString("latin1"));
    const { mac } = await verifyFile(fixture(`encrypted/${name}`), formatOfName(name), allKeys(), never);
    expect(mac).toMatch(/^ENC\[AES256_GCM,/);
  });

  test("is refused as in sops if a comment inside a list was encrypted", async () => {
    await expect(decrypt("list-comment.yaml")).rejects.toThrow("failed to verify sops data integrity: MAC mismatch");
    expect(await decrypt("list-comment.yaml", true)).toBe(fixture("decrypted/list-comment.yaml").toString("latin1"));
  });
});
