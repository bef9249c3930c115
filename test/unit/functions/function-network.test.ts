import { describe, expect, test } from "vitest";
import { functionNetwork } from "../../../functions/lambda/function-network.ts";
import { Config, readConfig } from "../../../functions/settings/config.ts";
import { Settings } from "../../../functions/settings/settings.ts";
import { functionEnvironment } from "../../doubles/function-environment.ts";

function isAllowed(
  host: string,
  address: string,
  { env = {}, network = {} }: { env?: Readonly<Record<string, string>>; network?: object } = {},
): boolean {
  const config = readConfig(Config, { ...functionEnvironment, ...env });
  const policy = functionNetwork(config, Settings.parse({ network }));
  return policy({ host, port: 443, address }) === undefined;
}

describe("addresses that a function connects to", () => {
  test("are public, or ECR of its own region at any address", () => {
    expect(isAllowed("r.test", "203.0.113.9")).toBe(true);
    expect(isAllowed("r.test", "10.0.0.7")).toBe(false);
    expect(isAllowed("r.test", "127.0.0.1")).toBe(false);
    expect(isAllowed("111122223333.dkr.ecr.eu-west-1.amazonaws.com", "10.0.0.7")).toBe(true);
    expect(isAllowed("111122223333.dkr.ecr.us-east-1.amazonaws.com", "10.0.0.7")).toBe(false);
    expect(isAllowed("111122223333.dkr.ecr.eu-west-1.amazonaws.com", "127.0.0.1")).toBe(false);
  });

  test("are extended or restricted by the settings", () => {
    const allowed = { network: { allow: ["r.test"] } };
    expect(isAllowed("r.test", "10.0.0.7", allowed)).toBe(true);
    expect(isAllowed("r.test", "169.254.169.254", allowed)).toBe(false);
    const listed = { network: { allow: ["r.test"], unlisted: "refused" } };
    expect(isAllowed("other.test", "203.0.113.9", listed)).toBe(false);
    expect(isAllowed("111122223333.dkr.ecr.eu-west-1.amazonaws.com", "203.0.113.9", listed)).toBe(true);
  });

  test("may be on this machine if a Lambda emulator says so, but not the metadata services of an instance", () => {
    const local = { env: { SLUICE_LOCAL_ADDRESSES: "allowed" } };
    expect(isAllowed("r.test", "127.0.0.1", local)).toBe(true);
    expect(isAllowed("r.test", "169.254.169.254", local)).toBe(false);
  });
});
