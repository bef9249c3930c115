import { createHmac, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { knownHostKeys, maxHostChars, maxKnownHostsChars } from "../../../../lib/sources/git/known-hosts.ts";

/** A key in the format of SSH: its type, then bytes that only have to differ. */
function key(type: string, seed: string): Buffer {
  const part = (bytes: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  return Buffer.concat([part(Buffer.from(type)), part(Buffer.from(seed))]);
}

const ed = key("ssh-ed25519", "one");
const otherEd = key("ssh-ed25519", "two");
const rsa = key("ssh-rsa", "three");
const line = (hosts: string, blob: Buffer, marker = ""): string =>
  `${marker}${hosts} ssh-ed25519 ${blob.toString("base64")}`;
const github = { host: "github.com", port: 22 };
const hash = (name: string): string => {
  const salt = randomBytes(20);
  return `|1|${salt.toString("base64")}|${createHmac("sha1", salt).update(name).digest("base64")}`;
};

describe("known_hosts knows a host by", () => {
  test.each([
    ["its name", "github.com", github],
    ["its name in any letter case", "GitHub.com", { host: "GITHUB.com", port: 22 }],
    ["one of several names", "gitlab.com,github.com", github],
    ["its name and port", "[git.example.com]:2222", { host: "git.example.com", port: 2222 }],
    ["its name and port without brackets", "git.example.com:2222", { host: "git.example.com", port: 2222 }],
    ["its IPv6 address", "::1", { host: "[::1]", port: 22 }],
    ["its IPv6 address and port", "[::1]:2222", { host: "::1", port: 2222 }],
    ["a pattern", "*.example.com", { host: "git.eu.example.com", port: 22 }],
    ["a pattern of one character", "git?.example.com", { host: "git1.example.com", port: 22 }],
    ["the hash of its name", hash("github.com"), github],
    ["the hash of its name and port", hash("[git.example.com]:2222"), { host: "git.example.com", port: 2222 }],
  ])("%s", (_what, hosts, host) => {
    const keys = knownHostKeys(`# comment\n\n${line(hosts, ed)} with a comment\r\n`, host);
    expect([keys.types, keys.fault(ed), keys.fault(otherEd)]).toEqual([
      ["ssh-ed25519"],
      undefined,
      "knownhosts: key mismatch",
    ]);
  });

  test.each([
    ["another name", "gitlab.com"],
    ["its name at another port", "[github.com]:2222"],
    ["a pattern that excludes it", "*.com,!github.com"],
    ["a prefix of its name", "github.co"],
    ["a hash of another name", hash("gitlab.com")],
  ])("but not by %s", (_what, hosts) => {
    const keys = knownHostKeys(line(hosts, ed), github);
    expect([keys.types, keys.fault(ed)]).toEqual([[], "knownhosts: key is unknown"]);
  });
});

describe("a known_hosts line without a port means port 22, one with a port means that port:", () => {
  const name = "git.example.com";
  test.each([
    [name, 22],
    [`[${name}]:22`, 22],
    [`${name}:2222`, 2222],
    [`[${name}]:2222`, 2222],
    ["*.example.com", 22],
    ["[*.example.com]:2222", 2222],
    [`gitlab.com,${name}`, 22],
    [`gitlab.com:2222,${name}`, 22],
    [`gitlab.com,[${name}]:2222`, 2222],
    [`!${name}:2222,*.example.com`, 22],
    [hash(name), 22],
    [hash(`[${name}]:2222`), 2222],
    ["::1", 22],
    ["[::1]:2222", 2222],
  ])("%s", (hosts, port) => {
    const host = hosts.includes("::1") ? "::1" : name;
    const ports = [22, 2222, 222].filter((at) => knownHostKeys(line(hosts, ed), { host, port: at }).types.length > 0);
    expect(ports).toEqual([port]);
  });
});

test("several types of keys may be listed for a host, each on its own line", () => {
  const keys = knownHostKeys(`${line("github.com", ed)}\n${line("github.com", rsa)}`, github);
  expect(keys.types.toSorted()).toEqual(["ssh-ed25519", "ssh-rsa"]);
  expect([keys.fault(ed), keys.fault(rsa)]).toEqual([undefined, undefined]);
});

test("a key of a type without a line does not match", () => {
  expect(knownHostKeys(line("github.com", ed), github).fault(rsa)).toBe("knownhosts: key mismatch");
});

test("only the first key of a type counts, as recorded from Flux: with an old and a new key the new one is still refused", () => {
  const keys = knownHostKeys(`${line("github.com", ed)}\n${line("github.com", otherEd)}`, github);
  expect([keys.fault(ed), keys.fault(otherEd)]).toEqual([undefined, "knownhosts: key mismatch"]);
});

test("a revoked key is refused, whichever host its line names", () => {
  const text = `${line("github.com", ed)}\n${line("example.com", ed, "@revoked ")}`;
  expect(knownHostKeys(text, github).fault(ed)).toBe("knownhosts: key is revoked");
});

test("a certificate authority key is refused by name for its hosts, and ignored for others", () => {
  const text = `${line("*.example.com", otherEd, "@cert-authority ")}\n${line("github.com", ed)}`;
  expect(() => knownHostKeys(text, { host: "git.example.com", port: 22 })).toThrow(
    "knownhosts: line 1 is for @cert-authority, which is not supported: give the keys of the host itself",
  );
  expect(knownHostKeys(text, github).fault(ed)).toBeUndefined();
});

test.each([
  ["github.com", "knownhosts: knownhosts: missing host pattern"],
  ["github.com ssh-rsa", "knownhosts: knownhosts: missing key type pattern"],
  ["github.com ssh-rsa AA*A", "knownhosts: illegal base64 data in line 1"],
  ["github.com ssh-rsa AAAA", "knownhosts: ssh: short read"],
  [line("github.com", key("ssh-foo", "x")), "knownhosts: ssh: unknown key algorithm: ssh-foo"],
  [line("|1|a", ed), "knownhosts: knownhosts: got 3 components, want 3"],
  [line("|2|a|b", ed), "knownhosts: knownhosts: got hash type 2, must be '1'"],
  [line("[github.com]", ed), "knownhosts: address [github.com]: missing port in address"],
  [line("!", ed), "knownhosts: knownhosts: negation without following hostname"],
])("an invalid line fails the file: %s", (text, message) => {
  expect(() => knownHostKeys(text, { host: "other.example.com", port: 22 })).toThrow(message);
});

test("a pattern with many stars takes no longer than any other", () => {
  const keys = knownHostKeys(line(`${"*a".repeat(2_000)}b`, ed), { host: "a".repeat(255), port: 22 });
  expect(keys.types).toEqual([]);
});

test("a file and a host name may have as many characters as the limit, and with one more are refused", () => {
  const at = (chars: number, hostChars: number) => () =>
    knownHostKeys("#".repeat(chars), { host: "h".repeat(hostChars), port: 22 }).fault(Buffer.alloc(0));
  expect(at(maxKnownHostsChars, maxHostChars)()).toBe("knownhosts: key is unknown");
  expect(at(maxKnownHostsChars + 1, 1)).toThrow("knownhosts: the file has more than 65536 characters");
  expect(at(1, maxHostChars + 1)).toThrow("knownhosts: the host has more than 255 characters");
});
