import { describe, expect, test } from "vitest";
import { encryptedFormat, formatLabel, formatOfName, isEncrypted } from "../../../lib/sops/format.ts";
import { fixture } from "./fixtures.ts";

describe("the format of a file", () => {
  test.each([
    ["secret.yaml", "yaml"],
    ["secret.yml", "yaml"],
    ["values.json", "json"],
    [".dockerconfigjson", "json"],
    ["settings.env", "dotenv"],
    ["settings.ini", "ini"],
    ["token", "binary"],
    ["SECRET.YAML", "binary"],
  ] as const)("of the name %s is %s", (name, format) => {
    expect(formatOfName(name)).toBe(format);
  });

  test("is recognised by its marker", () => {
    expect(encryptedFormat(fixture("encrypted/secret.regex.yaml"))).toBe("yaml");
    expect(encryptedFormat(fixture("encrypted/docker.json"))).toBe("json");
    expect(encryptedFormat(fixture("plain/secret.regex.yaml"))).toBeUndefined();
    expect(isEncrypted(fixture("encrypted/docker.json"), "yaml")).toBe(false);
    expect(isEncrypted(fixture("encrypted/docker.json"), "binary")).toBe(true);
  });

  test("is spelled as in Flux", () => {
    expect(Object.values(formatLabel)).toEqual(["YAML", "JSON", "dotenv", "INI", "binary"]);
  });
});
