import { describe, expect, test } from "vitest";
import { toJson } from "../../../lib/core/json.ts";
import { type DataKeys, dataKeys } from "../../../lib/sops/data-key.ts";
import { decryptObject } from "../../../lib/sops/decrypt-object.ts";
import { decryptFile, verifyFile } from "../../../lib/sops/file/decrypt-file.ts";
import type { SopsFormat } from "../../../lib/sops/format.ts";
import { ageKeys } from "../../../lib/sops/keys/age.ts";
import { encrypted, macOf, plainKeys, sopsOf } from "./encrypt.ts";
import { allKeys, fixture, identities, never } from "./fixtures.ts";

const keys = dataKeys([plainKeys]);
const secret = "correct horse";

function file(values: object, sops: object = sopsOf(macOf(secret))): string {
  return JSON.stringify({ ...values, sops });
}

async function faultOf(text: string | Buffer, format: SopsFormat = "json", from: DataKeys = keys): Promise<string> {
  const error: unknown = await decryptFile(Buffer.from(text), { input: format, output: format }, from, never).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) return "";
  expect(error.name).toBe("SopsFault");
  let all = "";
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) all += `${cause.message}\n`;
  // Neither plaintext nor ciphertext nor the data key, also not in a cause.
  for (const hidden of [secret, "ENC[", "BwcHBw", "AGE-SECRET", "battery staple"]) expect(all).not.toContain(hidden);
  return error.message;
}

describe("a SOPS file is refused", () => {
  test("if a value was changed in plain text", async () => {
    const values = { open_unencrypted: "visible", a: encrypted(secret, "a:") };
    expect(await faultOf(file(values, sopsOf(macOf("visible", secret))))).toBe("");
    expect(await faultOf(file({ ...values, open_unencrypted: "changed" }, sopsOf(macOf("visible", secret))))).toBe(
      "failed to verify sops data integrity: MAC mismatch",
    );
  });

  test("if a value was added, removed or reordered", async () => {
    const [a, b] = [encrypted("1", "a:"), encrypted("2", "b:")];
    const sops = sopsOf(macOf("1", "2"));
    const mismatch = "failed to verify sops data integrity: MAC mismatch";
    expect(await faultOf(file({ a, b }, sops))).toBe("");
    expect(await faultOf(file({ b, a }, sops))).toBe(mismatch);
    expect(await faultOf(file({ a }, sops))).toBe(mismatch);
    expect(await faultOf(file({ a, b, c: encrypted("3", "c:") }, sops))).toBe(mismatch);
  });

  test("if its MAC has another time, or is damaged, in plain text or missing", async () => {
    const values = { a: encrypted(secret, "a:") };
    const head = "failed to verify sops data integrity: ";
    const later = sopsOf(macOf(secret), { lastmodified: "2026-01-02T03:04:06Z" });
    expect(await faultOf(file(values, later))).toContain("Could not decrypt with AES_GCM");
    expect(await faultOf(file(values, sopsOf("ABCDEF")))).toBe(
      `${head}Input string <redacted> does not match sops' data format`,
    );
    expect(await faultOf(file(values, sopsOf("")))).toBe(`${head}MAC mismatch`);
  });

  test("if a value is under another key, or is plain text", async () => {
    const walk = "error decrypting sops tree: Error walking tree: Could not decrypt value: ";
    expect(await faultOf(file({ b: encrypted(secret, "a:") }))).toBe(
      `${walk}Could not decrypt with AES_GCM: cipher: message authentication failed: 'b' was changed, moved or renamed after its encryption`,
    );
    expect(await faultOf(file({ a: secret }))).toBe(
      `${walk}Input string <redacted> does not match sops' data format: 'a' is not encrypted. Restore the file, and change it with sops edit`,
    );
    expect(await faultOf(file({ a: { ["k".repeat(300)]: "x" } }))).toContain("...' is not encrypted");
    expect(await faultOf(file({ a: 5 }))).toContain(
      "Expected encrypted value as string, but got int: 'a' is not encrypted. Restore the file, and change it with sops edit",
    );
  });

  test("if a tag was shortened, so that it could be guessed", async () => {
    const value = encrypted(secret, "a:");
    const tag = /tag:([^,]*)/.exec(value)?.[1] ?? "";
    const short = value.replace(tag, Buffer.from(tag, "base64").subarray(0, 4).toString("base64"));
    expect(await faultOf(file({ a: short }))).toContain("Could not decrypt with AES_GCM");
  });

  test("if a plaintext does not match its type, without showing it", async () => {
    for (const type of ["int", "float", "bool", "time"]) {
      expect(await faultOf(file({ a: encrypted(secret, "a:", type) }))).toContain(`its type ${type}`);
    }
    expect(await faultOf(file({ a: encrypted(secret, "a:", "other") }))).toContain("Unknown datatype: other");
  });

  test("if no key decrypts it, with the text of sops", async () => {
    const other = dataKeys([ageKeys(identities("second"))]);
    const text = `cannot get sops data key: Failed to get the data key required to decrypt the SOPS file.

Group 0: FAILED
  age15rmgrwkw96ylw7pjcnjp7wsk6zt0rw5eyzkagchpr3ta85p7vscqp4f9ps: FAILED
    - | failed to create reader for decrypting sops data key with
      | age: identity did not match any of the recipients: incorrect
      | identity for recipient block

Recovery failed because no master key was able to decrypt the file. In
order for SOPS to recover the file, at least one key has to be successful,
but none were.`;
    expect(await faultOf(fixture("encrypted/secret.regex.yaml"), "yaml", other)).toBe(text);
    expect(await faultOf(fixture("encrypted/secret.regex.yaml"), "yaml", dataKeys([]))).toContain("no key");
  });

  test("for a post-quantum recipient, which is named by its start and its end", async () => {
    const other = dataKeys([ageKeys(identities("second"))]);
    const fault = await faultOf(fixture("encrypted/secret.post-quantum.yaml"), "yaml", other);
    expect(fault).toMatch(/^ {2}age1pq1[a-z0-9]{53}\.\.\.[a-z0-9]{12}: FAILED$/m);
    expect(fault.length).toBeLessThan(700);
  });

  test("with fewer key groups than its threshold", async () => {
    const one = dataKeys([ageKeys(identities("second"))]);
    expect(await faultOf(fixture("encrypted/groups.secret.regex.yaml"), "yaml", one)).toContain(
      "encrypted with a Shamir threshold of\n2, but only 1 part(s) were successfully recovered",
    );
    const two = dataKeys([ageKeys(identities("second", "post-quantum"))]);
    expect(await faultOf(fixture("encrypted/groups.secret.regex.yaml"), "yaml", two)).toBe("");
  });

  test("if it is not in its format, without showing it", async () => {
    expect(await faultOf(`{"a": ${secret}`)).toBe(
      "failed to load encrypted JSON data: Could not unmarshal input data: line 1 is not JSON",
    );
    expect(await faultOf(`a: "${secret}`, "yaml")).toMatch(/^failed to load encrypted YAML data: .*it is not YAML$/);
    expect(await faultOf(`a: *${secret}`, "yaml")).toContain("failed to load encrypted YAML data: ");
    expect(await faultOf(`- ${secret}`, "yaml")).toContain("YAML documents that are sequences are not supported");
    expect(await faultOf(secret, "dotenv")).toBe(
      "failed to load encrypted dotenv data: invalid dotenv input line: line 1 has no =",
    );
    expect(await faultOf(`[${secret}`, "ini")).toBe(
      "failed to load encrypted INI data: Could not unmarshal input data: unclosed section in line 1",
    );
    expect(await faultOf("{}")).toBe("failed to load encrypted JSON data: sops metadata not found");
  });

  test.each([
    ["no key", { age: [] }, "No keys found in file"],
    ["two rules", { encrypted_regex: "a", encrypted_suffix: "b" }, "Cannot use more than one of encrypted_suffix"],
    ["no time", { lastmodified: "yesterday" }, "lastmodified in the sops metadata is not an RFC 3339 time"],
    ["keys that are no list", { age: "key" }, "age in the sops metadata is not a list of mappings"],
    ["a list for a text", { mac: ["a"] }, "mac in the sops metadata is not a text"],
    [
      "a threshold that is a text",
      { shamir_threshold: "many" },
      "shamir_threshold in the sops metadata is not a small number",
    ],
  ])("with metadata that has %s", async (_, more, why) => {
    expect(await faultOf(file({ a: encrypted(secret, "a:") }, sopsOf(macOf(secret), more)))).toContain(why);
  });

  test("if its metadata occurs twice, or is a text", async () => {
    expect(await faultOf(`{"sops": {}, "sops": {}}`)).toContain("Found duplicate sops entry");
    expect(await faultOf(`{"sops": "yes"}`)).toContain("Found sops entry that is not a mapping");
  });

  test("if it cannot be printed in the requested format", async () => {
    const bytes = fixture("encrypted/types.yaml");
    for (const [output, why] of [
      ["dotenv", "cannot use complex value in dotenv file; offending key list"],
      ["ini", "Section values should always be TreeBranches"],
      ["binary", "no binary data found in tree"],
    ] as const) {
      await expect(decryptFile(bytes, { input: "yaml", output }, allKeys(), never)).rejects.toThrow(why);
    }
  });
});

test("an expression that would hang a backtracking engine is matched at once", async () => {
  const sops = sopsOf(macOf("v"), { encrypted_regex: "^(a+)+$" });
  expect(await faultOf(file({ [`${"a".repeat(5000)}!`]: "v" }, sops))).toBe("");
});

test("a file encrypted twice is decrypted once", async () => {
  const once = await decryptFile(
    fixture("encrypted/twice.bin"),
    { input: "binary", output: "binary" },
    allKeys(),
    never,
  );
  expect(Buffer.from(once).toString()).toContain('"mac": "ENC[');
  const plain = await decryptFile(once, { input: "binary", output: "binary" }, allKeys(), never);
  expect(Buffer.from(plain)).toEqual(fixture("plain/token.bin"));
});

test("an aborted run stops the search for a key", async () => {
  const stop = new AbortController();
  stop.abort(new Error("over"));
  await expect(verifyFile(fixture("encrypted/secret.regex.yaml"), "yaml", allKeys(), stop.signal)).rejects.toThrow(
    "over",
  );
});

describe("an object", () => {
  test("keeps the digits of an integer, and loses comments in lists", async () => {
    const object = {
      big: encrypted("9007199254740993", "big:", "int"),
      small: encrypted("42", "small:", "int"),
      list: [encrypted("one", "list:"), encrypted(" note", "list:", "comment"), encrypted("1.5", "list:", "float")],
      nothing: null,
      empty: "",
      sops: toJson(sopsOf("ENC[unread]")),
    };
    expect(await decryptObject(object, keys, never)).toEqual({
      big: 9007199254740993n,
      small: 42,
      list: ["one", 1.5],
      nothing: null,
      empty: "",
    });
  });

  test("from a file whose comments marked the encrypted values is decrypted by the form of its values", async () => {
    const object = {
      open: "visible",
      hidden: encrypted(secret, "hidden:"),
      sops: toJson(sopsOf("ENC[unread]", { encrypted_comment_regex: "enc" })),
    };
    expect(await decryptObject(object, keys, never)).toEqual({ open: "visible", hidden: secret });
  });

  test("without keys, without metadata or with text as metadata is refused with Flux's text", async () => {
    await expect(decryptObject({ a: "b" }, keys, never)).rejects.toThrow(
      "failed to load encrypted JSON data: sops metadata not found",
    );
    await expect(decryptObject({ sops: "yes" }, keys, never)).rejects.toThrow("that is not a mapping");
    await expect(decryptObject({ sops: { mac: "m" } }, keys, never)).rejects.toThrow("lastmodified");
  });
});

test("a data key is decrypted once for all files of a run that have it", async () => {
  let asked = 0;
  const counted = dataKeys([{ open: async (recipient, signal) => (asked++, plainKeys.open(recipient, signal)) }]);
  const text = Buffer.from(file({ a: encrypted(secret, "a:") }));
  for (let time = 0; time < 3; time++) await verifyFile(text, "json", counted, never);
  expect(asked).toBe(1);
});
