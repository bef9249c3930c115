import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pem } from "../../../doubles/pem.ts";
import { type HelmWorld, helmWorld } from "./helm-world.ts";

let world: HelmWorld;
beforeEach(async () => {
  world = await helmWorld();
});
afterEach(() => world.close());

describe("credentials of a HelmRepository", () => {
  test("username and password of the Secret are sent", async () => {
    world.secret("login", { username: "ann", password: "s3cret" });
    world.helmRepository({ secretRef: { name: "login" } });
    await world.runOnce();
    const authorization = `Basic ${Buffer.from("ann:s3cret").toString("base64")}`;
    expect(world.sent[0]?.headers).toEqual({ authorization });
  });

  test("a rotated password is sent from the next run on", async () => {
    const sent = async (password: string) => {
      world.secret("login", { username: "ann", password });
      world.helmRepository({ secretRef: { name: "login" } });
      await world.runOnce();
      const [, base64 = ""] = world.sent.at(-1)?.headers?.["authorization"]?.split(" ") ?? [];
      return Buffer.from(base64, "base64").toString();
    };
    expect([await sent("old"), await sent("new")]).toEqual(["ann:old", "ann:new"]);
  });

  test("certSecretRef takes precedence over the deprecated CA of secretRef", async () => {
    const [own, deprecated] = await Promise.all([pem("server.crt"), pem("amazon.crt")]);
    world.secret("tls", { "ca.crt": own });
    world.secret("login", { caFile: deprecated });
    world.helmRepository({ secretRef: { name: "login" } });
    await world.runOnce();
    world.helmRepository({ secretRef: { name: "login" }, certSecretRef: { name: "tls" } });
    await world.runOnce();
    expect(world.sent.map(({ tls }) => tls)).toEqual([{ ca: deprecated }, { ca: own }]);
  });

  test("a certificate without its key in secretRef is ignored, and an authority beside it too, as in Flux", async () => {
    const [crt, ca] = await Promise.all([pem("client.crt"), pem("amazon.crt")]);
    world.secret("login", { username: "ann", password: "s3cret", "tls.crt": crt, "ca.crt": ca });
    world.helmRepository({ secretRef: { name: "login" } });
    expect(await world.runOnce()).toMatchObject({ outcome: "stored" });
    expect(world.sent.map(({ tls }) => tls)).toEqual([undefined]);
  });

  test.each([
    [{ secretRef: { name: "none" } }, `failed to get authentication secret 'apps/none': secrets "none" not found`],
    [
      { certSecretRef: { name: "none" } },
      `failed to get TLS authentication secret 'apps/none': secrets "none" not found`,
    ],
    [
      { secretRef: { name: "half" } },
      "failed to detect authentication methods: secret 'apps/half': malformed basic auth - has 'username' but missing 'password'",
    ],
    [
      { secretRef: { name: "other-half" } },
      "failed to detect authentication methods: secret 'apps/other-half': malformed basic auth - has 'password' but missing 'username'",
    ],
    [
      { certSecretRef: { name: "half" } },
      "failed to construct Helm client's TLS config: secret 'apps/half' must contain either 'ca.crt' or both 'tls.crt' and 'tls.key'",
    ],
    [
      { certSecretRef: { name: "bad" } },
      "failed to construct Helm client's TLS config: failed to parse CA certificate",
    ],
  ])("%j fails in Flux's words", async (spec, message) => {
    world.secret("half", { username: "ann" });
    world.secret("other-half", { password: "s3cret" });
    world.secret("bad", { "ca.crt": "none" });
    world.helmRepository(spec);
    expect(await world.runOnce()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    expect(world.said()).toContain(`FetchFailed=True AuthenticationFailed: ${message}`);
    expect(world.sent).toEqual([]);
  });
});
