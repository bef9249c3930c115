import { describe, expect, test } from "vitest";
import {
  isWithin,
  maxDistinguishedNameLength,
  parseDistinguishedName,
  parseSubject,
} from "../../../../lib/sources/oci/verify/notation/distinguished-name.ts";

const read = (text: string) => Object.fromEntries(parseDistinguishedName(text));

describe("a distinguished name", () => {
  test.each([
    ["C=US,ST=WA,O=Acme", { C: "US", ST: "WA", O: "Acme" }],
    ["C = US, S = WA , O=Acme\\, Inc.", { C: "US", ST: "WA", O: "Acme, Inc." }],
    ['C=US,ST=WA,O="Acme, Inc."', { C: "US", ST: "WA", O: "Acme, Inc." }],
    ["C=US,ST=WA,O=M\\C3\\BCller,CN=a\\+b", { C: "US", ST: "WA", O: "Müller", CN: "a+b" }],
    ["C=US,ST=WA,O=a,1.2.840=b", { C: "US", ST: "WA", O: "a", "1.2.840": "b" }],
  ])("%s", (text, attributes) => {
    expect(read(text)).toEqual(attributes);
  });

  test.each([
    ["", "it does not follow RFC 4514"],
    ["C=US,,O=a", "it does not follow RFC 4514"],
    ["C=US,ST=WA", 'has no mandatory RDN attribute for "O"'],
    ["C=US,ST=WA,S=WA,O=a", 'has duplicate RDN attribute for "ST"'],
    ["C=US,ST=WA,O=a+OU=b", "has multi-valued RDN attributes"],
    ["C=US,ST=WA,O=#0401", 'does not support x509.subject identities containing "=#"'],
    ["C".repeat(maxDistinguishedNameLength + 1), `has more than ${maxDistinguishedNameLength} characters`],
  ])("%s is refused", (text, why) => {
    expect(() => read(text)).toThrow(why);
  });

  test("of a certificate has one attribute per line, and is refused by the same rules", () => {
    expect(Object.fromEntries(parseSubject("C=US\nST=WA\nO=a, b"))).toEqual({ C: "US", ST: "WA", O: "a, b" });
    expect(() => parseSubject("C=US\nST=WA\nO=a\nOU=b\nOU=c")).toThrow("duplicate");
    const long = `C=US\nST=WA\nO=${"a".repeat(maxDistinguishedNameLength)}`;
    expect(() => parseSubject(long)).toThrow(`has more than ${maxDistinguishedNameLength} characters`);
  });

  test("matches another one that has its attributes and more", () => {
    const [some, all] = ["C=US,ST=WA,O=a", "C=US,ST=WA,O=a,CN=b"].map(parseDistinguishedName);
    if (some === undefined || all === undefined) throw new Error("no names");
    expect([isWithin(some, all), isWithin(all, some)]).toEqual([true, false]);
  });
});
