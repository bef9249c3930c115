import { expect, test } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import { dataKey } from "../../../lib/sops/data-key.ts";
import { defaultRule } from "../../../lib/sops/encryption-rule.ts";
import { branchOfJson } from "../../../lib/sops/json-tree.ts";
import { type KeySource, type Recipient, type RecipientKind, recipientName } from "../../../lib/sops/key-source.ts";
import { readMetadata } from "../../../lib/sops/metadata.ts";
import { Branch } from "../../../lib/sops/tree.ts";
import { never } from "./fixtures.ts";

const metadata = (...group: readonly Recipient[]) => ({
  mac: "",
  lastModified: "2026-01-01T00:00:00Z",
  version: "3.13.2",
  keyGroups: [group],
  shamirThreshold: 0,
  rule: defaultRule,
  macOnlyEncrypted: false,
});

test("local keys are tried before a service is called, age first, in any order in the file, as in sops", async () => {
  const asked: string[] = [];
  const source: KeySource = {
    open: async ({ kind }) => {
      asked.push(kind);
      return kind === "gcp_kms" ? Buffer.from("data key") : undefined;
    },
  };
  const file = metadata(
    { kind: "hckms", keyId: "k", enc: "" },
    { kind: "gcp_kms", resourceId: "r", enc: "" },
    { kind: "pgp", fingerprint: "f", enc: "" },
    { kind: "age", recipient: "a", enc: "" },
  );
  expect(Buffer.from(await dataKey(file, [source], never)).toString()).toBe("data key");
  expect(asked).toEqual(["age", "pgp", "hckms", "gcp_kms"]);
});

/** Each kind of key as a file has it under the kind's name, what is read of it, and how messages name it. */
const recipients: Readonly<Record<RecipientKind, readonly [file: JsonObject, read: object, named: string]>> = {
  age: [{ recipient: "age1x", enc: "E" }, { recipient: "age1x" }, "age1x"],
  pgp: [{ fp: "F", enc: "E" }, { fingerprint: "F" }, "F"],
  kms: [
    { arn: "A", role: "R", context: { b: "2", a: "1" }, aws_profile: "P", enc: "E" },
    { arn: "A", role: "R", context: { b: "2", a: "1" }, awsProfile: "P" },
    "A+R|a:1,b:2|P",
  ],
  gcp_kms: [{ resource_id: "G", enc: "E" }, { resourceId: "G" }, "G"],
  hckms: [{ key_id: "H", enc: "E" }, { keyId: "H" }, "H"],
  azure_kv: [
    { vault_url: "U", name: "N", version: "V", enc: "E" },
    { vaultUrl: "U", keyName: "N", version: "V" },
    "U/keys/N/V",
  ],
  hc_vault: [
    { vault_address: "U", engine_path: "E", key_name: "N", enc: "E" },
    { vaultAddress: "U", enginePath: "E", keyName: "N" },
    "U/v1/E/keys/N",
  ],
};
const kinds = Object.keys(recipients);

function metadataOf(fields: JsonObject) {
  const sops = branchOfJson({ lastmodified: "2026-01-02T03:04:05Z", ...fields });
  if (!(sops instanceof Branch)) throw new TypeError("not a mapping");
  return readMetadata(sops);
}

test.each(Object.entries(recipients))(
  "every field of a key of kind %s is parsed, alone and in a group",
  (kind, [file, read, named]) => {
    const wanted = { kind, enc: "E", ...read };
    for (const fields of [{ [kind]: [file] }, { [kind]: [], key_groups: [{ [kind]: [file] }] }]) {
      const { keyGroups } = metadataOf(fields);
      expect(keyGroups).toEqual([[wanted]]);
      expect(keyGroups.flat().map(recipientName)).toEqual([named]);
    }
  },
);

test.each([
  [{ arn: "A" }, "A"],
  [{ arn: "A", role: "R" }, "A+R"],
  [{ arn: "A", context: { b: "2", a: "1" } }, "A|a:1,b:2"],
  [{ arn: "A", aws_profile: "P" }, "A||P"],
  [{ arn: "A", role: "", aws_profile: "", context: {} }, "A"],
  [{ arn: "A", role: "R", context: { a: "1" } }, "A+R|a:1"],
])("a KMS key %j is named %s", (key, named) => {
  expect(
    metadataOf({ kms: [{ ...key, enc: "E" }] })
      .keyGroups.flat()
      .map(recipientName),
  ).toEqual([named]);
});

test("local keys come before those of services, in a group as in a file, and no kind is skipped", () => {
  const group = Object.fromEntries(kinds.toReversed().map((kind) => [kind, [{ enc: kind }]]));
  const order = ["age", "pgp", "kms", "gcp_kms", "hckms", "azure_kv", "hc_vault"];
  expect(metadataOf(group).keyGroups.map((keys) => keys.map(({ enc }) => enc))).toEqual([order]);
  expect(metadataOf({ key_groups: [group, group] }).keyGroups.map((keys) => keys.map(({ enc }) => enc))).toEqual([
    order,
    order,
  ]);
  expect(order.toSorted()).toEqual(kinds.toSorted());
});

test.each([
  [["1", "t", "T", "true", "True", "TRUE", true], true],
  [["", "0", "f", "F", "false", "False", "FALSE", false, null], false],
] as const)("mac_only_encrypted of %j is %s, as parsed in Go", (words, is) => {
  for (const word of words) {
    const fields = { age: [{ enc: "E" }], mac_only_encrypted: word };
    expect(metadataOf(fields).macOnlyEncrypted).toBe(is);
  }
});

test("only as many key groups as the threshold are tried, and a failing one is replaced by the next", async () => {
  const asked: string[] = [];
  const source: KeySource = {
    open: async ({ enc }) => {
      asked.push(enc);
      return enc === "fails" ? undefined : Buffer.from([1, Number(enc)]);
    },
  };
  const groups = (...encs: readonly string[]) => encs.map((enc) => [{ kind: "age", recipient: "r", enc }] as const);
  const open = (shamirThreshold: number, ...encs: readonly string[]) =>
    dataKey({ ...metadata(), keyGroups: groups(...encs), shamirThreshold }, [source], never);
  await open(2, "1", "fails", "2", "3");
  await open(0, "4", "5");
  expect(asked.splice(0)).toEqual(["1", "fails", "2", "4", "5"]);
  await expect(open(0, "1", "2", "fails")).rejects.toThrow("cannot get sops data key");
  await expect(open(2, "fails", "1", "fails")).rejects.toThrow("only 1 part(s) were successfully recovered");
  expect(asked).toEqual(["1", "2", "fails", "fails", "1", "fails"]);
});

test("the process does other work between two recipients", async () => {
  let turns = 0;
  let next = setImmediate(function count() {
    turns++;
    next = setImmediate(count);
  });
  const source: KeySource = { open: async () => undefined };
  const group = Array.from({ length: 20 }, (): Recipient => ({ kind: "age", recipient: "a", enc: "" }));
  await expect(dataKey(metadata(...group), [source], never)).rejects.toThrow("age");
  clearImmediate(next);
  expect(turns).toBeGreaterThanOrEqual(19);
});
