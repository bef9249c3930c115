import { expect, test } from "vitest";
import { dataKeys } from "../../../lib/sops/data-key.ts";
import { verifyFile } from "../../../lib/sops/file/decrypt-file.ts";
import { encrypted, macOf, plainKeys, sopsOf } from "./encrypt.ts";
import { allKeys, fixture, never } from "./fixtures.ts";

const keys = dataKeys([plainKeys]);

test("a file is verified over all of its documents", async () => {
  const text = fixture("encrypted/several.yaml").toString();
  const { mac } = await verifyFile(Buffer.from(text), "yaml", allKeys(), never);
  expect(text.split(`mac: ${mac}`)).toHaveLength(3);
  const changed = Buffer.from(text.replace("name: second", "name: another"));
  await expect(verifyFile(changed, "yaml", allKeys(), never)).rejects.toThrow(
    "failed to verify sops data integrity: MAC mismatch",
  );
});

test("a file whose MAC is of other values is not verified", async () => {
  const file = (mac: string): Buffer => Buffer.from(JSON.stringify({ a: encrypted("1", "a:"), sops: sopsOf(mac) }));
  await expect(verifyFile(file(macOf("1")), "json", keys, never)).resolves.toMatchObject({ version: "3.13.2" });
  await expect(verifyFile(file(macOf("2")), "json", keys, never)).rejects.toThrow("MAC mismatch");
});

test("values of a list are bound to the key of the list", async () => {
  const list = [encrypted("1", "list:", "int"), [encrypted("2", "list:", "int")], { a: encrypted("3", "list:a:") }];
  const bytes = Buffer.from(JSON.stringify({ list, sops: sopsOf(macOf("1", "2", "3")) }));
  await expect(verifyFile(bytes, "json", keys, never)).resolves.toBeDefined();
});
