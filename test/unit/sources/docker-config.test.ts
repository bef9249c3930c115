import { describe, expect, test } from "vitest";
import {
  credentialsFor,
  maxDockerConfigBytes,
  maxDockerConfigEntries,
} from "../../../lib/sources/oci/docker-config.ts";

const auth = Buffer.from("user:pa:ss").toString("base64");

function read(host: string, config: unknown): string | undefined {
  const found = credentialsFor(host, typeof config === "string" ? config : JSON.stringify(config));
  return found && `${found.username}:${found.password.reveal()}`;
}

describe("the credentials of a pull secret", () => {
  test.each([
    { what: "a host with a port", host: "reg.example:5000", config: { auths: { "reg.example:5000": { auth } } } },
    { what: "a URL", host: "reg.example", config: { auths: { "https://reg.example/v1/": { auth } } } },
    {
      what: "the names of Docker Hub",
      host: "docker.io",
      config: { auths: { "https://index.docker.io/v1/": { auth } } },
    },
    { what: "the legacy form without auths", host: "reg.example", config: { "reg.example": { auth } } },
    { what: "a pair", host: "r", config: { auths: { r: { username: "user", password: "pa:ss", auth: "x" } } } },
  ])("are found for $what", ({ host, config }) => {
    expect(read(host, config)).toBe("user:pa:ss");
  });

  const neighbours = [
    "reg.example",
    "reg.example:5000",
    "reg.example.org",
    "my-reg.example",
    "reg.exampl",
    "docker.io",
  ];
  test.each([
    ["reg.example", "reg.example"],
    ["reg.example/", "reg.example"],
    ["reg.example/v2/team", "reg.example"],
    ["http://reg.example", "reg.example"],
    ["http://reg.example/v1/", "reg.example"],
    ["https://reg.example", "reg.example"],
    ["https://reg.example/v1/", "reg.example"],
    ["reg.example:5000", "reg.example:5000"],
    ["https://reg.example:5000/v1/", "reg.example:5000"],
    ["reg.example.org", "reg.example.org"],
    ["my-reg.example", "my-reg.example"],
    ["docker.io", "docker.io"],
    ["https://index.docker.io/v1/", "docker.io"],
    ["registry-1.docker.io", "docker.io"],
    ["my.docker.io", undefined],
  ])("under the key %s are those of %s only", (key, host) => {
    for (const config of [{ auths: { [key]: { auth } } }, { [key]: { auth } }]) {
      expect(neighbours.filter((one) => read(one, config) !== undefined)).toEqual(host === undefined ? [] : [host]);
    }
  });

  test.each([
    { what: "another host", config: { auths: { other: { auth } } } },
    { what: "an entry whose credentials a helper provides", config: { auths: { r: {} } } },
  ])("are undefined for $what", ({ config }) => {
    expect(read("r", config)).toBeUndefined();
  });

  test.each([
    { what: "a text that is not JSON", config: "hunter2 is no JSON", message: "it is not JSON" },
    { what: "a text that is very long", config: "hunter2".repeat(200_000), message: "it has more than 1048576 bytes" },
    { what: "a list", config: ["hunter2"], message: "it has no entries for registries" },
    {
      what: "an auth value without a colon",
      config: { auths: { r: { auth: "aHVudGVyMg==" } } },
      message: "user:password",
    },
  ])("are refused for $what, without quoting it", ({ config, message }) => {
    expect(() => read("r", config)).toThrow(message);
    expect(() => read("r", config)).not.toThrow("hunter2");
  });
});

describe("limits on a docker configuration", () => {
  test("apply to its bytes", () => {
    const config = JSON.stringify({ auths: { r: { auth } } });
    expect(read("r", config.padEnd(maxDockerConfigBytes))).toBe("user:pa:ss");
    expect(() => read("r", config.padEnd(maxDockerConfigBytes + 1))).toThrow("has more than 1048576 bytes");
  });

  test("apply to its entries", () => {
    const entries = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`r${index}`, { auth }]));
    expect(read("r0", { auths: entries(maxDockerConfigEntries) })).toBe("user:pa:ss");
    expect(() => read("r0", { auths: entries(maxDockerConfigEntries + 1) })).toThrow(
      "it has no entries for registries",
    );
  });
});
