import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addressKind, destinations } from "../../../lib/core/network/address-kind.ts";
import { homeNetwork, networkPolicy } from "../../../lib/core/network/network-policy.ts";
import { NetworkSettings } from "../../../lib/core/network/network-settings.ts";

/** The kinds of where a connection to this address may end. */
function kindsOf(address: string): readonly string[] {
  return [...new Set(destinations(address).map(addressKind))];
}

describe("an address", () => {
  test.each([
    ["0.0.0.0", "unspecified"],
    ["0.1.2.3", "unspecified"],
    ["::", "unspecified"],
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["::1", "loopback"],
    ["169.254.169.254", "link-local"],
    ["169.254.170.23", "link-local"],
    ["fe80::1", "link-local"],
    ["fe80::1%eth0", "link-local"],
    ["febf::1", "link-local"],
    ["fd00:ec2::254", "metadata"],
    ["fd00:ec2::23", "metadata"],
    ["fd20:ce::254", "metadata"],
    ["100.100.100.200", "metadata"],
    ["168.63.129.16", "metadata"],
    ["192.0.0.192", "metadata"],
    ["10.0.0.0", "private"],
    ["10.255.255.255", "private"],
    ["172.16.0.1", "private"],
    ["172.31.255.255", "private"],
    ["192.168.1.1", "private"],
    ["100.64.0.0", "private"],
    ["100.127.255.255", "private"],
    ["198.18.0.1", "private"],
    ["fc00::1", "private"],
    ["fd12:3456::1", "private"],
    ["fec0::1", "private"],
    ["224.0.0.1", "multicast"],
    ["ff02::1", "multicast"],
    ["240.0.0.1", "reserved"],
    ["255.255.255.255", "reserved"],
    ["1.1.1.1", "public"],
    ["9.255.255.255", "public"],
    ["11.0.0.0", "public"],
    ["100.63.255.255", "public"],
    ["100.128.0.0", "public"],
    ["126.255.255.255", "public"],
    ["128.0.0.1", "public"],
    ["169.253.255.255", "public"],
    ["169.255.0.0", "public"],
    ["172.15.255.255", "public"],
    ["172.32.0.0", "public"],
    ["192.167.255.255", "public"],
    ["192.169.0.0", "public"],
    ["223.255.255.255", "public"],
    ["2a05:d018::1", "public"],
    ["64:ff9a::1", "public"],
    ["64:ff9b:2::a00:1", "public"],
    ["2001:db8::a00:1", "public"],
  ])("%s is %s", (address, kind) => {
    expect(kindsOf(address)).toEqual([kind]);
  });
});

describe("an IPv6 address that contains an IPv4 address", () => {
  test.each([
    ["::ffff:127.0.0.1", ["loopback"]],
    ["::ffff:7f00:1", ["loopback"]],
    ["::ffff:169.254.169.254", ["link-local"]],
    ["0:0:0:0:0:ffff:a9fe:a9fe", ["link-local"]],
    ["::ffff:0.0.0.0", ["unspecified"]],
    ["::127.0.0.1", ["loopback"]],
    ["::ffff:0:10.0.0.1", ["private"]],
    ["::ffff:0:127.0.0.1", ["loopback"]],
    ["64:ff9b::169.254.169.254", ["link-local"]],
    ["64:ff9b::8.8.8.8", ["public"]],
    ["64:ff9b:1::10.0.0.1", ["private"]],
    ["64:ff9b:1::8.8.8.8", ["public"]],
    ["64:ff9b:1::", ["unspecified"]],
    ["2002:7f00:1::", ["loopback"]],
    ["2002:a9fe:a9fe::1", ["link-local"]],
    ["2002:808:808::1", ["public"]],
    // Teredo: a server, and a client that is written as its complement.
    ["2001:0:808:808::f5ff:fffe", ["public", "private"]],
    ["2001:0:a00:1::f7f7:f7f7", ["private", "public"]],
    ["2001:0:808:808::f7f7:f7f7", ["public"]],
  ])("%s contains %j", (address, kinds) => {
    expect(kindsOf(address).toSorted()).toEqual(kinds.toSorted());
  });
});

test.each(["64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:1:a9:fe:a9fe::", "64:ff9b:1:0:a9:fea9:fe00::", "64:ff9b:1::a9fe:a9fe"])(
  "%s contains 169.254.169.254 with one of the possible prefix lengths",
  (address) => {
    expect(destinations(address)).toContain("169.254.169.254");
  },
);

const bytes = fc.tuple(
  fc.integer({ min: 1, max: 255 }),
  ...Array.from({ length: 3 }, () => fc.integer({ min: 0, max: 255 })),
);
type Bytes = readonly number[];

const hex = (value: number): string => value.toString(16);
const pair = (high = 0, low = 0): string => hex(high * 256 + low);
const flipped = (ip: Bytes): Bytes => ip.map((byte) => 255 - byte);
const tail = (ip: Bytes): string => `${pair(ip[0], ip[1])}:${pair(ip[2], ip[3])}`;

/** Each way to write an IPv4 address into an IPv6 one. */
const embeddings: Readonly<Record<string, (ip: Bytes) => string>> = {
  mapped: (ip) => `::ffff:${ip.join(".")}`,
  compatible: (ip) => `::${tail(ip)}`,
  SIIT: (ip) => `::ffff:0:${tail(ip)}`,
  NAT64: (ip) => `64:ff9b::${tail(ip)}`,
  "an own NAT64 of 48 bits": (ip) => `64:ff9b:1:${pair(ip[0], ip[1])}:${pair(0, ip[2])}:${pair(ip[3], 0)}::`,
  "an own NAT64 of 56 bits": (ip) => `64:ff9b:1:${pair(0, ip[0])}:${pair(0, ip[1])}:${pair(ip[2], ip[3])}::`,
  "an own NAT64 of 64 bits": (ip) => `64:ff9b:1:0:${pair(0, ip[0])}:${pair(ip[1], ip[2])}:${pair(ip[3], 0)}::`,
  "an own NAT64 of 96 bits": (ip) => `64:ff9b:1::${tail(ip)}`,
  "6to4": (ip) => `2002:${tail(ip)}::1`,
  "Teredo's client": (ip) => `2001:0:4136:e378:8000:63bf:${tail(flipped(ip))}`,
  "Teredo's server": (ip) => `2001:0:${tail(ip)}:8000:63bf:${tail(flipped([8, 8, 8, 8]))}`,
};

test.each(Object.entries(embeddings))("every IPv4 address is found in %s", (_, embed) => {
  fc.assert(
    fc.property(bytes, (ip) => {
      expect(destinations(embed(ip)).map(addressKind)).toContain(addressKind(ip.join(".")));
    }),
    { numRuns: 500 },
  );
});

/** Those that can be read in one way alone. */
const plainEmbeddings = ["mapped", "compatible", "SIIT", "NAT64", "an own NAT64 of 96 bits", "6to4"];

test.each(Object.entries(embeddings))("every IPv4 address in %s is judged like that address", (name, embed) => {
  const settings = NetworkSettings.parse({ allow: ["10.20.0.0/16", "203.0.113.0/24"] });
  const policies = [
    networkPolicy(settings, "functions"),
    networkPolicy({ ...settings, unlisted: "refused" }, "functions"),
    homeNetwork,
  ];
  const ip4 = fc.oneof(
    bytes,
    bytes.map(([, b = 0, c = 0, d = 0]) => [10, b, c, d]),
    bytes.map(([, , c = 0, d = 0]) => [10, 20, c, d]),
    bytes.map(([, , c = 0, d = 0]) => [169, 254, c, d]),
    bytes.map(([, b = 0, c = 0, d = 0]) => [127, b, c, d]),
  );
  fc.assert(
    fc.property(ip4, (ip) => {
      for (const policy of policies) {
        const isAllowed = (address: string) => policy({ host: "r.test", port: 443, address }) === undefined;
        const [plain, embedded] = [isAllowed(ip.join(".")), isAllowed(embed(ip))];
        // Where an address may be read in several ways, each of them has to be allowed.
        expect(embedded && !plain).toBe(false);
        expect(plainEmbeddings.includes(name) && embedded !== plain).toBe(false);
      }
    }),
    { numRuns: 500 },
  );
});
