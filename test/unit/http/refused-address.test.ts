import { describe, expect, test } from "vitest";
import { refusedAddress } from "../../../lib/http/refused-address.ts";

describe("an address that no registry has", () => {
  test.each([
    ["0.0.0.0", "an unspecified address"],
    ["0.1.2.3", "an unspecified address"],
    ["127.0.0.1", "a loopback address"],
    ["127.255.255.254", "a loopback address"],
    ["169.254.169.254", "a link-local address"],
    ["169.254.170.23", "a link-local address"],
    ["224.0.0.1", "a multicast address"],
    ["240.0.0.1", "a reserved address"],
    ["255.255.255.255", "a reserved address"],
    ["::", "an unspecified address"],
    ["::1", "a loopback address"],
    ["fe80::1", "a link-local address"],
    ["fe80::1%eth0", "a link-local address"],
    ["febf::1", "a link-local address"],
    ["ff02::1", "a multicast address"],
    ["fd00:ec2::254", "an address of services of the instance"],
    ["fd00:ec2::23", "an address of services of the instance"],
    ["::ffff:127.0.0.1", "a loopback address"],
    ["::ffff:7f00:1", "a loopback address"],
    ["::ffff:169.254.169.254", "a link-local address"],
    ["0:0:0:0:0:ffff:a9fe:a9fe", "a link-local address"],
    ["::ffff:0.0.0.0", "an unspecified address"],
    ["::127.0.0.1", "a loopback address"],
    ["64:ff9b::169.254.169.254", "a link-local address"],
    ["64:ff9b::7f00:1", "a loopback address"],
    ["2002:7f00:1::", "a loopback address"],
    ["2002:a9fe:a9fe::1", "a link-local address"],
  ])("%s is %s", (address, kind) => {
    expect(refusedAddress(address)).toBe(kind);
  });

  test.each([
    "1.1.1.1",
    "10.0.0.7",
    "100.64.3.4",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.255.255",
    "169.255.0.0",
    "172.16.0.1",
    "192.168.1.1",
    "223.255.255.255",
    "2a05:d018::1",
    "fc00::1",
    "fd12:3456::1",
    "fec0::1",
    "::ffff:10.0.0.1",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
  ])("%s may be connected to", (address) => {
    expect(refusedAddress(address)).toBeUndefined();
  });
});
