import { describe, expect, test } from "vitest";
import { parseAuthorizationToken } from "../../../lib/aws/ecr/authorization-token.ts";
import { ecrRegion } from "../../../lib/aws/ecr/ecr-host.ts";

describe("a registry of ECR", () => {
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
  ])("%s lies in %s", (host, region) => {
    expect(ecrRegion(host)).toBe(region);
  });

  test.each(["ghcr.io", "ecr.us-east-1.amazonaws.com", "registry.example.com:5000", "gallery.ecr.aws"])(
    "%s is none, and is told which expression it has to match",
    (host) => {
      const expression =
        "([0-9+]*).dkr[.-]ecr(?:-fips)?\\.([^/.]*)\\.(amazonaws\\.com[.cn]*|amazonaws\\.eu|sc2s\\.sgov\\.gov|c2s\\.ic\\.gov|cloud\\.adc-e\\.uk|csp\\.hci\\.ic\\.gov|on\\.aws)";
      expect(() => ecrRegion(host)).toThrow(`invalid AWS registry: '${host}'. must match ${expression}`);
    },
  );
});

describe("an authorization token", () => {
  const expiresAt = new Date("2026-11-21T12:00:00Z");
  const token = (text: string) => [{ authorizationToken: Buffer.from(text).toString("base64"), expiresAt }];

  test("is a user name and a password", () => {
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
  ])("that says otherwise is told as Flux tells it: %s", (text, authorizationData) => {
    const read = (): unknown => parseAuthorizationToken({ authorizationData });
    expect(read).toThrow(`failed to create artifact registry credentials: ${text}`);
    expect(read).not.toThrow("hunter2");
  });
});
