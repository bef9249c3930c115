import { describe, expect, test } from "vitest";
import { Settings } from "../../../../functions/settings/settings.ts";
import { sshAlgorithmsOf } from "../../../../functions/settings/ssh-settings.ts";

const chosen = (given: object) => sshAlgorithmsOf(Settings.parse(given));

describe("the algorithms of SSH", () => {
  test.each([{}, { "ssh-kex-algos": [], "ssh-hostkey-algos": "" }])("have Sluice's defaults with %j", (given) => {
    expect(chosen(given)).toEqual({});
  });

  test("are used in their order, from a list and from Flux's text", () => {
    const kex = ["ecdh-sha2-nistp256", "curve25519-sha256"];
    const given = { "ssh-kex-algos": kex, "ssh-hostkey-algos": "rsa-sha2-512, rsa-sha2-256" };
    expect(chosen(given)).toEqual({ kex, hostKey: ["rsa-sha2-512", "rsa-sha2-256"] });
  });

  test.each(["sha1", "sha256"])(
    "must not include group exchange with %s, in which the host chooses the numbers",
    (hash) => {
      const given = { "ssh-kex-algos": [`diffie-hellman-group-exchange-${hash}`] };
      expect(Settings.safeParse(given).error?.issues[0]?.message).toContain("must be a list of: curve25519-sha256, ");
    },
  );

  test.each([["ssh-kex-algos"], ["ssh-hostkey-algos"]])("for %s are refused by name if one is unknown", (name) => {
    const known = name === "ssh-kex-algos" ? "curve25519-sha256, " : "ssh-ed25519, ";
    for (const given of ["md5", ["md5"], 7])
      expect(Settings.safeParse({ [name]: given }).error?.issues[0]?.message).toContain(`must be a list of: ${known}`);
  });
});
