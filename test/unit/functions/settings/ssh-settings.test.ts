import { describe, expect, test } from "vitest";
import { Settings } from "../../../../functions/settings/settings.ts";
import { sshAlgorithmsOf } from "../../../../functions/settings/ssh-settings.ts";

const chosen = (given: object) => sshAlgorithmsOf(Settings.parse(given));

describe("the algorithms of ssh", () => {
  test.each([{}, { "ssh-kex-algos": [], "ssh-hostkey-algos": "" }])("are left to us by %j", (given) => {
    expect(chosen(given)).toEqual({});
  });

  test("are taken in their order, as a list and as Flux's text", () => {
    const kex = ["ecdh-sha2-nistp256", "curve25519-sha256"];
    const given = { "ssh-kex-algos": kex, "ssh-hostkey-algos": "rsa-sha2-512, rsa-sha2-256" };
    expect(chosen(given)).toEqual({ kex, hostKey: ["rsa-sha2-512", "rsa-sha2-256"] });
  });

  test.each(["sha1", "sha256"])("hold no group exchange with %s, for which the host chooses the numbers", (hash) => {
    const given = { "ssh-kex-algos": [`diffie-hellman-group-exchange-${hash}`] };
    expect(Settings.safeParse(given).error?.issues[0]?.message).toContain("must be a list of: curve25519-sha256, ");
  });

  test.each([["ssh-kex-algos"], ["ssh-hostkey-algos"]])("of %s are named where one is not known", (name) => {
    const known = name === "ssh-kex-algos" ? "curve25519-sha256, " : "ssh-ed25519, ";
    for (const given of ["md5", ["md5"], 7])
      expect(Settings.safeParse({ [name]: given }).error?.issues[0]?.message).toContain(`must be a list of: ${known}`);
  });
});
