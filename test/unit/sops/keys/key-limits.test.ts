import { generateIdentity } from "age-encryption";
import { expect, test } from "vitest";
import type { Http } from "../../../../lib/core/ports/http.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { ageIdentities, maxIdentities } from "../../../../lib/sops/keys/age.ts";
import { maxMessageChars, pgpKeySource } from "../../../../lib/sops/keys/pgp.ts";
import { maxCiphertextChars, maxNameChars, vaultKeySource } from "../../../../lib/sops/keys/vault.ts";
import { never } from "../../../contract/state-back-end.ts";

const asked: string[] = [];
const http: Http = {
  async send({ url }) {
    asked.push(url);
    return { url, status: 200, headers: {}, body: Buffer.from('{"data":{"plaintext":"eA=="}}') };
  },
};
const vault = { kind: "hc_vault", vaultAddress: "https://v.example", enginePath: "t", keyName: "k", enc: "x" } as const;
const open = (changed: Partial<typeof vault> | Readonly<Record<string, string>>) =>
  vaultKeySource(http, async () => new Secret("hvs.x")).open({ ...vault, ...changed }, never);
const base = `${vault.vaultAddress}/`;

test.each([
  { field: "enc", of: (chars: number) => "x".repeat(chars), most: maxCiphertextChars },
  { field: "keyName", of: (chars: number) => "x".repeat(chars - "t/decrypt/".length), most: maxNameChars },
  { field: "vaultAddress", of: (chars: number) => base + "x".repeat(chars - base.length), most: maxNameChars },
])("a Vault data key may have a $field as long as the limit, and no longer", async ({ field, of, most }) => {
  expect(Buffer.from((await open({ [field]: of(most) })) ?? []).toString()).toBe("x");
  await expect(open({ [field]: of(most + 1) })).rejects.toThrow(/characters|not a path|address of Vault/);
});

test.each([".", "..", "a/./b", "a/../b"])(
  "the Vault key %s is not a valid path, and nothing is requested",
  async (keyName) => {
    asked.length = 0;
    await expect(open({ keyName })).rejects.toThrow("is not a path of Vault's API");
    expect(asked).toEqual([]);
  },
);

test("an agekey may have as many identities as the limit, and no more", async () => {
  const identity = await generateIdentity();
  const file = (count: number): string => `# keys\n\n${`${identity}\n`.repeat(count)}`;
  expect(ageIdentities(file(maxIdentities))).toHaveLength(maxIdentities);
  expect(() => ageIdentities(file(maxIdentities + 1))).toThrow(`more than ${maxIdentities} identities`);
});

test("a PGP message is read up to its limit of characters", async () => {
  const read = (chars: number) =>
    pgpKeySource([]).open({ kind: "pgp", fingerprint: "F", enc: "x".repeat(chars) }, never);
  await expect(read(maxMessageChars)).rejects.toThrow("it is not an armored PGP message");
  await expect(read(maxMessageChars + 1)).rejects.toThrow(`more than ${maxMessageChars} characters`);
});
