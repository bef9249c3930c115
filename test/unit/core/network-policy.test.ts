import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Destination, homeNetwork, networkPolicy, type Place } from "../../../lib/core/network/network-policy.ts";
import { maxAllowEntries, maxAllowEntryChars, NetworkSettings } from "../../../lib/core/network/network-settings.ts";

const mend = "the installation allows it with network.allow in its settings";

function judged(allow: readonly string[], more: Partial<Destination>, place: Place = "functions"): string | undefined {
  const policy = networkPolicy(NetworkSettings.parse({ allow }), place);
  return policy({ host: "r.test", port: 443, address: "203.0.113.9", ...more });
}

describe("in functions, without settings", () => {
  test("a host may have any public address, on any port", () => {
    for (const port of [80, 443, 5000]) expect(judged([], { port })).toBeUndefined();
    expect(judged([], { address: "2a05:d018::1" })).toBeUndefined();
  });

  test.each(["10.0.0.7", "172.16.0.1", "192.168.1.1", "100.64.3.4", "fc00::1"])(
    "no host may have the address %s",
    (address) => {
      expect(judged([], { address })).toBe(`host 'r.test' resolves to ${address}, which is a private address: ${mend}`);
    },
  );

  test.each(["::ffff:10.0.0.1", "2002:a00:1::"])(
    "no host may have the address %s, which contains another",
    (address) => {
      expect(judged([], { address })).toBe(
        `host 'r.test' resolves to ${address}, which stands for 10.0.0.1, a private address: ${mend}`,
      );
    },
  );

  test("of the addresses contained in an address, the refused one is named", () => {
    expect(judged([], { address: "2001:0:808:808::f5ff:fffe" })).toContain("stands for 10.0.0.1, a private address: ");
    expect(judged([], { host: "[::ffff:a9fe:a9fe]", address: "::ffff:a9fe:a9fe" })).toBe(
      "::ffff:a9fe:a9fe stands for 169.254.169.254, a link-local address: Sluice never connects there",
    );
    expect(judged([], { address: "fe80::1%eth0" })).toContain(", which is a link-local address: ");
  });

  test("an address that is itself the host is named once", () => {
    expect(judged([], { host: "[fc00::1]", address: "fc00::1" })).toMatch(/^fc00::1 is a private address: /);
  });
});

describe("an entry of network.allow", () => {
  const address = "10.20.0.7";
  test.each([
    { allow: "r.test", host: "r.test", port: 443, isAllowed: true },
    { allow: "R.Test", host: "r.test", port: 443, isAllowed: true },
    { allow: "r.test", host: "r.test.", port: 443, isAllowed: true },
    { allow: "r.test", host: "a.r.test", port: 443, isAllowed: false },
    { allow: "r.test", host: "r.test.evil.example", port: 443, isAllowed: false },
    { allow: "r.test", host: "xr.test", port: 443, isAllowed: false },
    { allow: "r.test:5000", host: "r.test", port: 5000, isAllowed: true },
    { allow: "r.test:5000", host: "r.test", port: 443, isAllowed: false },
    { allow: "*.r.test", host: "a.r.test", port: 443, isAllowed: true },
    { allow: "*.r.test", host: "a.b.r.test", port: 443, isAllowed: true },
    { allow: "*.r.test", host: "r.test", port: 443, isAllowed: false },
    { allow: "*.r.test", host: "ar.test", port: 443, isAllowed: false },
    { allow: "*.r.test:5000", host: "a.r.test", port: 443, isAllowed: false },
    { allow: "10.20.0.7", host: "10.20.0.7", port: 443, isAllowed: true },
    { allow: "0xa.0x14.7", host: "10.20.0.7", port: 443, isAllowed: true },
    { allow: "10.20.0.0/16", host: "any.test", port: 443, isAllowed: true },
    { allow: "10.20.0.0/29", host: "any.test", port: 443, isAllowed: true },
    { allow: "10.20.0.0/30", host: "any.test", port: 443, isAllowed: false },
    { allow: "10.20.0.7/32", host: "any.test", port: 1, isAllowed: true },
  ])("$allow allows $host:$port to have a private address: $isAllowed", ({ allow, host, port, isAllowed }) => {
    expect(judged([allow], { host, port, address }) === undefined).toBe(isAllowed);
  });

  test("for a range allows an address if all addresses that it contains are in the range", () => {
    for (const inside of ["::ffff:10.20.0.7", "64:ff9b::10.20.0.7", "64:ff9b:1::10.20.0.7", "2002:a14:7::1"]) {
      expect(judged(["10.20.0.0/16"], { address: inside })).toBeUndefined();
    }
    // Teredo by a server in the range, to a client outside of it.
    expect(judged(["10.20.0.0/16"], { address: "2001:0:a14:7::f5fd:fffe" })).toContain("a private address");
    expect(judged(["fd12::/16"], { address: "fd12::9" })).toBeUndefined();
  });

  test.each(["127.0.0.1", "::1", "169.254.169.254", "fd00:ec2::254", "0.0.0.0", "64:ff9b:1::169.254.169.254"])(
    "allows nothing on this machine and no metadata services of the instance: %s",
    (refused) => {
      const allow = ["r.test", "0.0.0.0/0", "::/0", refused.includes(":") ? `[${refused}]` : refused];
      expect(judged(allow, { address: refused })).toContain("Sluice never connects there");
      expect(judged(allow, { host: refused, address: refused })).toContain("Sluice never connects there");
    },
  );

  test.each([
    "",
    "*",
    "*.",
    "https://r.test",
    "r.test/team",
    "r.test:0",
    "r.test:65536",
    "r.test:x",
    "a b",
    "*.0.0.1",
    "10.0.0.0/33",
    "10.0.0.0/",
    "x/8",
    "user@r.test",
    "a.*.test",
  ])("%j is invalid", (entry) => {
    expect(NetworkSettings.safeParse({ allow: [entry] }).error?.issues[0]?.message).toMatch(/^must be a host such as/);
  });
});

test("network.allow has a limit of entries, and each entry a limit of characters", () => {
  const count = (length: number) =>
    NetworkSettings.safeParse({ allow: Array.from({ length }, () => "r.test") }).success;
  expect([count(maxAllowEntries), count(maxAllowEntries + 1)]).toEqual([true, false]);
  const labels = `${"a".repeat(60)}.`.repeat(4);
  const entry = (length: number) => labels + "b".repeat(length - labels.length);
  const isRefused = (text: string) => !NetworkSettings.safeParse({ allow: [text] }).success;
  expect(isRefused(entry(maxAllowEntryChars))).toBe(false);
  expect(isRefused(entry(maxAllowEntryChars + 1))).toBe(true);
});

describe("if only listed hosts are allowed", () => {
  const policy = networkPolicy(
    NetworkSettings.parse({ allow: ["r.test", "203.0.113.0/24"], unlisted: "refused" }),
    "functions",
  );
  test.each([
    ["r.test", "198.51.100.1", undefined],
    ["r.test", "10.0.0.1", undefined],
    ["other.test", "203.0.113.5", undefined],
    ["other.test", "198.51.100.1", "host 'other.test' is not on the installation's list: "],
    ["other.test", "10.0.0.1", "host 'other.test' is not on the installation's list: "],
  ])("%s at %s: %s", (host, address, why) => {
    const told = policy({ host, port: 443, address });
    expect(told?.slice(0, why?.length)).toBe(why);
  });
});

describe("in sluice local", () => {
  test.each(["127.0.0.1", "::1", "10.0.0.1", "fd12::1", "203.0.113.9", "0.0.0.0"])(
    "%s may be connected to",
    (address) => {
      expect(homeNetwork({ host: "r.test", port: 80, address })).toBeUndefined();
    },
  );

  test.each([
    "169.254.169.254",
    "fe80::1",
    "fd00:ec2::254",
    "::ffff:169.254.169.254",
    "64:ff9b:1::a9fe:a9fe",
    "100.100.100.200",
  ])("%s must not be connected to", (address) => {
    expect(homeNetwork({ host: "r.test", port: 80, address })).toContain("Sluice never connects there");
  });

  test("the token service of a registry may be on any host", () => {
    expect(homeNetwork({ host: "t.test", port: 443, address: "10.0.0.1", tokenServiceOf: "r.test" })).toBeUndefined();
  });

  test("settings may restrict connections", () => {
    const policy = networkPolicy(NetworkSettings.parse({ allow: ["127.0.0.0/8"], unlisted: "public" }), "home");
    expect(policy({ host: "localhost", port: 80, address: "127.0.0.1" })).toBeUndefined();
    expect(policy({ host: "localhost", port: 80, address: "::1" })).toContain("a loopback address");
  });
});

describe("a token service", () => {
  test.each([
    { registry: "r.test", host: "r.test", isAllowed: true },
    { registry: "R.test:5000", host: "r.test", isAllowed: true },
    { registry: "[2a05::1]:5000", host: "[2a05::1]", isAllowed: true },
    { registry: "r.test", host: "auth.r.test", isAllowed: false },
    { registry: "r.test", host: "listed.test", isAllowed: true },
    { registry: "docker.io", host: "auth.docker.io", isAllowed: true },
    { registry: "index.docker.io", host: "auth.docker.io", isAllowed: true },
    { registry: "registry.gitlab.com", host: "gitlab.com", isAllowed: true },
    { registry: "r.test", host: "auth.docker.io", isAllowed: false },
    { registry: "toString", host: "evil.test", isAllowed: false },
  ])("of $registry at $host: $isAllowed", ({ registry, host, isAllowed }) => {
    for (const address of ["203.0.113.9", undefined]) {
      const told = judged(["listed.test"], { host, address, tokenServiceOf: registry });
      const refusal = `registry ${registry} asks to log in at another host, '${host}': ${mend}`;
      expect(told).toBe(isAllowed ? undefined : refusal);
    }
  });

  test("is not allowed by a range that contains its address", () => {
    const told = judged(["203.0.113.0/24"], { host: "t.test", tokenServiceOf: "r.test" });
    expect(told).toContain("asks to log in at another host, 't.test'");
  });
});

/** Each way that a URL takes an IPv4 address in: parts decimal, octal or hexadecimal, the last of fewer parts holds the rest. */
const spelt = fc
  .tuple(
    fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    fc.integer({ min: 1, max: 4 }),
    fc.infiniteStream(fc.constantFrom(8, 10, 16)),
  )
  .map(([value, parts, bases]) => {
    const bytes = [24, 16, 8, 0].map((bits) => Math.floor(value / 2 ** bits) % 256);
    const rest = value % 2 ** (8 * (5 - parts));
    const text = [...bytes.slice(0, parts - 1), rest]
      .map((part) => {
        const base = bases.next().value ?? 10;
        return base === 8 ? `0${part.toString(8)}` : base === 16 ? `0x${part.toString(16)}` : String(part);
      })
      .join(".");
    return { text, plain: bytes.join(".") };
  });

test("every spelling of an IPv4 address is judged like that address", () => {
  fc.assert(
    fc.property(spelt, ({ text, plain }) => {
      const host = new URL(`http://${text}/`).hostname;
      expect(host).toBe(plain);
      expect(judged([], { host, address: host })).toBe(judged([], { host: plain, address: plain }));
      expect(judged([text], { host, address: host })).toBe(judged([plain], { host: plain, address: plain }));
    }),
    { numRuns: 1_000 },
  );
});
