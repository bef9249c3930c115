import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { maskSecrets } from "../../../lib/manifests/secrets.ts";

const secret = (fields: object): Manifest => ({ apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, ...fields });
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const said = (value: string): string => `metadata.labels: Invalid value: "${value}": a label must be short`;
const hidden = said("*****");

describe("a text about a build is shown without the values of its Secrets", () => {
  test.each([
    { what: "in clear", of: { data: { pw: base64("S3CRt/x+y") } }, text: said("S3CRt/x+y") },
    { what: "in base64", of: { data: { pw: base64("S3CRt/x+y") } }, text: said(base64("S3CRt/x+y")) },
    { what: "of stringData", of: { stringData: { pw: "S3CRt" } }, text: said("S3CRt") },
    { what: "of stringData in base64", of: { stringData: { pw: "S3CRt" } }, text: said(base64("S3CRt")) },
    { what: "without its last line feed", of: { stringData: { pw: "S3CRt\n" } }, text: said("S3CRt") },
    { what: "escaped in quotes", of: { stringData: { pw: 'S3"CRt\nx' } }, text: said('S3\\"CRt\\nx') },
    { what: "that is a number", of: { stringData: { pw: 123_456 } }, text: said("123456") },
    { what: "in an invalid form of data", of: { data: [{ pw: "S3CRt" }] }, text: said("S3CRt") },
    { what: "of four characters", of: { stringData: { pw: "S3CR" } }, text: said("S3CR") },
    { what: "that has another one in it", of: { stringData: { a: "S3CRt", b: "xS3CRtx" } }, text: said("xS3CRtx") },
    { what: "that overlaps another one", of: { stringData: { a: "S3CRt", b: "CRtable" } }, text: said("S3CRtable") },
    { what: "right after another one", of: { stringData: { a: "S3CRt", b: "table" } }, text: said("S3CRttable") },
  ])("a value $what", ({ of, text }) => {
    expect(maskSecrets(text, { manifests: [secret(of)], secrets: [] })).toBe(hidden);
  });

  test("a value that is also a name or a kind", () => {
    const secrets = [secret({ stringData: { pw: "S3CRt" } })];
    expect(maskSecrets("Service/default/S3CRt dry-run failed", { manifests: secrets, secrets: [] })).toBe(
      "Service/default/***** dry-run failed",
    );
    expect(maskSecrets('no matches for kind "S3CRt"', { manifests: secrets, secrets: [] })).toBe(
      'no matches for kind "*****"',
    );
  });

  test("every occurrence of a value, including at the start and the end", () => {
    const secrets = [secret({ stringData: { a: "first" } }), secret({ stringData: { b: "other" } })];
    expect(maskSecrets("first, other and first", { manifests: secrets, secrets: [] })).toBe("*****, ***** and *****");
  });

  test.each(["S3CRt", "S3CR"])("without the start of a value where a text was cut: %s...", (begin) => {
    const secrets = [secret({ stringData: { pw: "S3CRt/x" } })];
    expect(maskSecrets(`Invalid value: "${begin}...`, { manifests: secrets, secrets: [] })).toBe(
      'Invalid value: "*****...',
    );
    expect(maskSecrets(`Invalid value: "${begin}`, { manifests: secrets, secrets: [] })).toBe(
      `Invalid value: "${begin}`,
    );
  });

  test.each(["abcab", "a".repeat(300), `${"a".repeat(300)}b`, `${"ab".repeat(200)}c`])(
    "each cut of a value that repeats its own start, and each complete one: %s",
    (value) => {
      const secrets = [secret({ stringData: { pw: value } })];
      const masked = (text: string) => maskSecrets(text, { manifests: secrets, secrets: [] });
      expect(masked(`aaab ${value}, ${value}${value}, ab${value}`)).not.toContain(value);
      expect(masked(`-${value}-`)).toBe("-*****-");
      for (let cut = 4; cut < value.length; cut++) {
        expect(masked(`${value}- ${value.slice(0, cut)}...`)).toBe("*****- *****...");
      }
    },
  );

  test("everything else is kept: other kinds, short values, a build without Secrets", () => {
    const config = { ...secret({ data: { pw: "S3CRt" } }), kind: "ConfigMap" };
    const short = secret({ stringData: { pin: "a l" }, data: null });
    expect(maskSecrets(said("S3CRt"), { manifests: [config, short], secrets: [] })).toBe(said("S3CRt"));
    expect(maskSecrets(said("S3CRt"), { manifests: [], secrets: [] })).toBe(said("S3CRt"));
  });

  test("values of any form", () => {
    const value = fc.string({ unit: fc.constantFrom("a", "b", " "), minLength: 4, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), fc.string(), (values, text) => {
        const secrets = values.map((pw) => secret({ stringData: { pw } }));
        const masked = maskSecrets(`${text}${values.join("")}${text}`, { manifests: secrets, secrets: [] });
        expect(values.filter((one) => masked.includes(one))).toEqual([]);
      }),
    );
  });
});
