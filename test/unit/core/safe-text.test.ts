import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { safeMessage, safeText } from "../../../lib/core/safe-text.ts";

const unsafe = /(?![\t\n])[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

describe("control characters", () => {
  test.each([
    ["an escape sequence is shown", "a\u001b[1;31mred\u001b[0m", String.raw`a\u001b[1;31mred\u001b[0m`],
    ["so is one that an 8-bit character begins", "a\u009b2Kb", String.raw`a\u009b2Kb`],
    ["a title", "a\u001b]0;title\u0007b\u009c", String.raw`a\u001b]0;title\u0007b\u009c`],
    ["the first and the last of the two ranges", "\u0000\u001f\u007f\u009f", String.raw`\u0000\u001f\u007f\u009f`],
    ["their neighbours stay", " ~\u00a0", " ~\u00a0"],
    ["tabs and line feeds stay", "a\tb\nc\n", "a\tb\nc\n"],
    ["the line end of Windows becomes a line feed", "a\r\nb", "a\nb"],
    ["a carriage return alone, which overwrites the line, is shown", "a\rb\r", String.raw`a\u000db\u000d`],
    ["separators of lines", "a\u2028b\u2029c\u0085", String.raw`a\u2028b\u2029c\u0085`],
    ["directions", "\u202a\u202b\u202c\u202d\u202e", String.raw`\u202a\u202b\u202c\u202d\u202e`],
    ["isolated directions", "\u2066\u2067\u2068\u2069", String.raw`\u2066\u2067\u2068\u2069`],
    [
      "letters of every script stay",
      "é ß 漢字 עברית 👍🏽 \u2027\u202f\u2065\u206a",
      "é ß 漢字 עברית 👍🏽 \u2027\u202f\u2065\u206a",
    ],
  ])("%s", (_, text, expected) => {
    expect(safeText(text)).toBe(expected);
  });

  test("are removed from any text except for tab and line feed, and a second time nothing changes", () => {
    const part = fc.oneof(
      fc.constantFrom("\u001b[", "\u009b", "\u0007", "\u202e", "\r", "\n", "://a:b@c", "-----BEGIN PRIVATE KEY-----"),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const safe = safeText(parts.join(""));
        expect(unsafe.test(safe)).toBe(false);
        expect(safeText(safe)).toBe(safe);
      }),
    );
  });

  test("JSON stays JSON with the same texts, except for secrets", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), (texts) => {
        expect(JSON.parse(safeText(JSON.stringify(texts)))).toEqual(texts);
      }),
    );
    const texts = [
      'say "x"\nhttp://a:hunter2@b\\',
      '-----BEGIN RSA PRIVATE KEY-----\nhunter2\n"\\"',
      "eyJhbGciOiJ.eyJzdWIiOiJ.c2ln\\",
    ];
    const parsed: unknown = JSON.parse(safeText(JSON.stringify(texts)));
    expect(parsed).toEqual(['say "x"\nhttp://a:*****@b\\', '-----BEGIN RSA PRIVATE KEY-----*****"\\"', "*****\\"]);
  });
});

describe("secrets with a recognisable form are hidden:", () => {
  const pem = (title: string, body: string) => `-----BEGIN ${title}-----\n${body}\n-----END ${title}-----`;
  test.each([
    [
      "a private key",
      pem("PRIVATE KEY", "hunter2+/=\nhunter2"),
      "-----BEGIN PRIVATE KEY-----*****-----END PRIVATE KEY-----",
    ],
    [
      "one with headers",
      pem("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\n\nhunter2"),
      "-----BEGIN RSA PRIVATE KEY-----*****-----END RSA PRIVATE KEY-----",
    ],
    [
      "one of PGP",
      pem("PGP PRIVATE KEY BLOCK", "hunter2"),
      "-----BEGIN PGP PRIVATE KEY BLOCK-----*****-----END PGP PRIVATE KEY BLOCK-----",
    ],
    ["one without an end", "x -----BEGIN PRIVATE KEY-----\nhunter2", "x -----BEGIN PRIVATE KEY-----*****"],
    ["an identity of age", `is AGE-SECRET-KEY-1${"Q".repeat(58)} here`, "is ***** here"],
    ["a hybrid one", `AGE-SECRET-KEY-PQ-1${"Q".repeat(58)}`, "*****"],
    ["a token", "token eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.c2ln-_: refused", "token *****: refused"],
    ["the password in a URL", "Get https://user:hunter2@git.example/a", "Get https://user:*****@git.example/a"],
    ["one without a user", "https://:hunter2@git.example", "https://:*****@git.example"],
  ])("%s", (_, text, expected) => {
    expect(safeText(text)).toBe(expected);
  });

  test.each([
    ["a certificate", pem("CERTIFICATE", "MIIB")],
    ["a public key", pem("PUBLIC KEY", "MIIB")],
    ["the form of an identity", "AGE-SECRET-KEY-1…"],
    ["a file name with dots", "a.eyJb.eyJc.d"],
    ["a password that Go has hidden", "https://user:xxxxx@git.example/a"],
    ["a URL with a port, before a mail address", "https://git.example:8443/a me@git.example"],
    ["a URL with a user alone", "ssh://git@git.example:22/a@b"],
  ])("but not %s", (_, text) => {
    expect(safeText(text)).toBe(text);
  });
});

test("a message is cut to the limit of a condition after it was escaped", () => {
  expect(safeMessage("a".repeat(32_768))).toHaveLength(32_768);
  const escaped = safeMessage("\u001b".repeat(32_768));
  expect([escaped.length, escaped.slice(0, 12), escaped.slice(-3)]).toEqual([32_768, String.raw`\u001b\u001b`, "..."]);
});
