import { describe, expect, test } from "vitest";
import { ecrEntries, ecrRegion, isEcrHost } from "../../../../lib/aws/ecr/ecr-host.ts";
import { parseAuthorizationToken } from "../../../../lib/aws/ecr/ecr-login.ts";
import { networkPolicy } from "../../../../lib/core/network/network-policy.ts";

describe("an ECR registry", () => {
  test.each([
    ["012345678901.dkr.ecr.us-east-1.amazonaws.com", "us-east-1"],
    ["012345678901.dkr.ecr.us-east-1.amazonaws.com:443", "us-east-1"],
    ["012345678901.dkr.ecr.cn-north-1.amazonaws.com.cn", "cn-north-1"],
    ["012345678901.dkr.ecr-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1"],
    ["012345678901.dkr-ecr.eu-west-1.on.aws", "eu-west-1"],
    ["012345678901.dkr-ecr-fips.us-east-1.on.aws", "us-east-1"],
    ["012345678901.dkr.ecr.eusc-de-east-1.amazonaws.eu", "eusc-de-east-1"],
    ["012345678901.dkr.ecr.us-isob-east-1.sc2s.sgov.gov", "us-isob-east-1"],
    ["012345678901.dkr.ecr.us-iso-east-1.c2s.ic.gov", "us-iso-east-1"],
    ["012345678901.dkr.ecr.eu-isoe-west-1.cloud.adc-e.uk", "eu-isoe-west-1"],
    ["012345678901.dkr.ecr.us-isof-south-1.csp.hci.ic.gov", "us-isof-south-1"],
  ])("%s is in %s", (host, region) => {
    expect(ecrRegion(host)).toBe(region);
  });

  test.each([
    "ghcr.io",
    "ecr.us-east-1.amazonaws.com",
    "registry.example.com:5000",
    "gallery.ecr.aws",
    "012345678901.dkr.ecr.us-east-1.amazonaws.com.evil.example",
    "evil.example/012345678901.dkr.ecr.us-east-1.amazonaws.com",
    "evil.012345678901.dkr.ecr.us-east-1.amazonaws.com",
    "x012345678901.dkr.ecr.us-east-1.amazonaws.com",
    "012345678901.dkr.ecr.us-east-1.amazonaws.com.ccc",
    "012345678901.dkr.ecr.us-east-1.amazonaws.comcn",
    "012345678901xdkr.ecr.us-east-1.amazonaws.com",
    "012345678901.dkr.ecr.us-east-1.evil.example.amazonaws.com",
    "012345678901.dkr.ecr.us-east-1.amazonaws.com:8443",
    "012345678901.dkr.ecr.us-east-1.amazonaws.com\n.evil.example",
    "012345678901.dkr.ecr.us-east-1.amazonaws.com\n",
    "0+9.dkr.ecr.us-east-1.amazonaws.com",
    "123.dkr.ecr.us-east-1.amazonaws.com",
    ".dkr.ecr.us-east-1.amazonaws.com",
  ])("%j is not one, and the error quotes the expression that it must match", (host) => {
    expect(isEcrHost(host)).toBe(false);
    expect(() => ecrRegion(host)).toThrow(`invalid AWS registry: '${host}'. must match ^([0-9]{12})\\.dkr[.-]ecr`);
  });

  test.each(["eu-west-1", "cn-north-1", "us-gov-west-1"])(
    "of %s may have private addresses, and no other host of AWS may",
    (region) => {
      const policy = networkPolicy({ allow: [] }, "functions", ecrEntries(region));
      const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
      const isAllowed = (host: string) => policy({ host, port: 443, address: "10.0.0.7" }) === undefined;
      expect(isAllowed(`012345678901.dkr.ecr.${region}.${domain}`)).toBe(true);
      expect(isAllowed(`012345678901.dkr.ecr-fips.${region}.${domain}`)).toBe(true);
      expect(isAllowed(`012345678901.dkr-ecr.${region}.on.aws`)).toBe(true);
      expect(isAllowed(`prod-${region}-starport-layer-bucket.s3.${region}.${domain}`)).toBe(true);
      // Customers choose where these names lead.
      expect(isAllowed(`internal-evil-1.${region}.elb.${domain}`)).toBe(false);
      expect(isAllowed(`ec2-1-2-3-4.${region}.compute.${domain}`)).toBe(false);
      expect(isAllowed(`tenants-bucket.s3.${region}.${domain}`)).toBe(false);
      expect(isAllowed("012345678901.dkr.ecr.xx-west-9.amazonaws.com")).toBe(false);
      expect(isAllowed(`012345678901.dkr.ecr.${region}.${domain}.evil.example`)).toBe(false);
    },
  );
});

describe("an ECR authorization token", () => {
  const expiresAt = new Date("2026-11-21T12:00:00Z");
  const token = (text: string) => [{ authorizationToken: Buffer.from(text).toString("base64"), expiresAt }];

  test("is a username and a password", () => {
    const read = parseAuthorizationToken({ authorizationData: token("AWS:hunter2") });
    expect([read.username, read.password.reveal(), read.expiresAt]).toEqual(["AWS", "hunter2", expiresAt.getTime()]);
  });

  test.each([
    ["no authorization data returned", []],
    ["authorization token is nil", [{ expiresAt }]],
    ["authorization token expiration is nil", [{ authorizationToken: "QQ==" }]],
    ["failed to parse authorization token: ", [{ authorizationToken: "hunter2!", expiresAt }]],
    ["invalid authorization token format", token("hunter2")],
    ["invalid authorization token format", token("a:b:hunter2")],
  ])("with anything else is an error with Flux's text: %s", (text, authorizationData) => {
    const read = (): unknown => parseAuthorizationToken({ authorizationData });
    expect(read).toThrow(`failed to create artifact registry credentials: ${text}`);
    expect(read).not.toThrow("hunter2");
  });
});
