import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keyPairFault } from "../../../lib/core/validation.ts";

const fixture = (name: string): Promise<string> =>
  readFile(join(import.meta.dirname, "../../fixtures/tls", name), "utf8");

test("a certificate and its key are a pair, and another key is refused with Go's text", async () => {
  const [cert, key, other] = await Promise.all(["client.crt", "client.key", "server.key"].map(fixture));
  expect(keyPairFault(cert ?? "", key ?? "")).toBeUndefined();
  expect(keyPairFault(cert ?? "", other ?? "")).toBe("tls: private key does not match public key");
  expect(keyPairFault("", key ?? "")).toBe("tls: failed to find any PEM data in certificate input");
  expect(keyPairFault(cert ?? "", "")).toBe("tls: failed to find any PEM data in key input");
});

test("an unusable certificate or key is refused before a connection is opened", async () => {
  const [cert, key] = await Promise.all(["client.crt", "client.key"].map(fixture));
  const damaged = `${cert}-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n`;
  expect(keyPairFault(damaged, key ?? "")).toBe("tls: failed to parse certificate or private key");
});
