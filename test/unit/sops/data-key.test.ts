import { expect, test } from "vitest";
import { dataKey } from "../../../lib/sops/data-key.ts";
import { defaultRule } from "../../../lib/sops/encryption-rule.ts";
import type { KeySource, Recipient } from "../../../lib/sops/key-source.ts";
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

test("keys at hand are tried before a service is asked, age first, wherever the file names them, as sops does", async () => {
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
