import { expect, test } from "vitest";
import { dataKeys } from "../../../lib/sops/data-key.ts";
import { decryptFile, verifyFile } from "../../../lib/sops/file/decrypt-file.ts";
import { offThreadBytes } from "../../../lib/sops/file/off-thread.ts";
import { SopsFault } from "../../../lib/sops/sops-fault.ts";
import { encrypted, macOf, plainKeys, sopsOf } from "./encrypt.ts";
import { allKeys, fixture, never } from "./fixtures.ts";

const keys = dataKeys([plainKeys]);

test("all documents of a file are verified", async () => {
  const text = fixture("encrypted/several.yaml").toString();
  const { mac } = await verifyFile(Buffer.from(text), "yaml", allKeys(), never);
  expect(text.split(`mac: ${mac}`)).toHaveLength(3);
  const changed = Buffer.from(text.replace("name: second", "name: another"));
  await expect(verifyFile(changed, "yaml", allKeys(), never)).rejects.toThrow(
    "failed to verify sops data integrity: MAC mismatch",
  );
});

test("a file whose MAC is for other values is not verified", async () => {
  const file = (mac: string): Buffer => Buffer.from(JSON.stringify({ a: encrypted("1", "a:"), sops: sopsOf(mac) }));
  await expect(verifyFile(file(macOf("1")), "json", keys, never)).resolves.toMatchObject({ version: "3.13.2" });
  await expect(verifyFile(file(macOf("2")), "json", keys, never)).rejects.toThrow("MAC mismatch");
});

test("values of a list are bound to the key of the list", async () => {
  const list = [encrypted("1", "list:", "int"), [encrypted("2", "list:", "int")], { a: encrypted("3", "list:a:") }];
  const bytes = Buffer.from(JSON.stringify({ list, sops: sopsOf(macOf("1", "2", "3")) }));
  await expect(verifyFile(bytes, "json", keys, never)).resolves.toBeDefined();
});

test("a large file is verified and decrypted as a small one is", async () => {
  const long = "x".repeat(offThreadBytes);
  const file = (mac: string): Buffer => Buffer.from(JSON.stringify({ a: encrypted(long, "a:"), sops: sopsOf(mac) }));
  await expect(verifyFile(file(macOf(long)), "json", keys, never)).resolves.toMatchObject({ version: "3.13.2" });
  await expect(verifyFile(file(macOf("2")), "json", keys, never)).rejects.toThrow(
    new SopsFault("failed to verify sops data integrity: MAC mismatch"),
  );
  const formats = { input: "json", output: "yaml" } as const;
  const plain = await decryptFile(file(macOf(long)), formats, keys, never);
  expect(Buffer.from(plain).toString()).toBe(`a: ${long}\n`);
});

test("a YAML file with many comments is printed with them", async () => {
  const text = `${"#\n".repeat(150_000)}a: ""\nsops: ${JSON.stringify(sopsOf(macOf()))}\n`;
  const formats = { input: "yaml", output: "yaml" } as const;
  const plain = await decryptFile(Buffer.from(text), formats, keys, never);
  expect(Buffer.from(plain).toString()).toBe(`${"#\n".repeat(150_000)}a: ""\n`);
});
