import { X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { certificateFault, isCertificateFault } from "../../../lib/http/certificate-fault.ts";
import { pem } from "../../doubles/pem.ts";

const now = new Date("2026-11-22T16:00:00.900Z");
const leafOf = async (name: string) => new X509Certificate(await pem(`${name}.crt`));
const unknown = "x509: certificate signed by unknown authority";

describe("the reason why a certificate is not trusted, with Go's messages", () => {
  // Codes of OpenSSL as Node has them, and one of its own.
  test.each([
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", unknown],
    ["UNABLE_TO_GET_ISSUER_CERT", unknown],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", unknown],
    ["SELF_SIGNED_CERT_IN_CHAIN", unknown],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", unknown],
    ["CERT_SIGNATURE_FAILURE", unknown],
    ["CERT_UNTRUSTED", unknown],
    ["INVALID_CA", unknown],
    ["PATH_LENGTH_EXCEEDED", unknown],
    // Of an intermediate, where the server's own is good.
    ["CERT_HAS_EXPIRED", unknown],
    ["INVALID_PURPOSE", "x509: certificate specifies an incompatible key usage"],
  ])("%s", async (code, why) => {
    expect(isCertificateFault(code)).toBe(true);
    const told = certificateFault(code, await leafOf("server"), "127.0.0.1", now);
    expect(told).toBe(`tls: failed to verify certificate: ${why}`);
    expect(certificateFault(code, undefined, "127.0.0.1", now)).toBe(told);
  });

  test.each([
    {
      name: "server",
      host: "127.0.0.2",
      at: now,
      why: "certificate is valid for 127.0.0.1, not 127.0.0.2",
    },
    {
      name: "client",
      host: "jane",
      at: now,
      why: "certificate relies on legacy Common Name field, use SANs instead",
    },
    {
      name: "server",
      host: "other.test",
      at: new Date("2020-01-01T00:00:00Z"),
      why: "certificate has expired or is not yet valid: current time 2020-01-01T00:00:00Z is before 2026-11-21T12:34:00Z",
    },
    {
      name: "expired",
      host: "late",
      at: now,
      why: "certificate has expired or is not yet valid: current time 2026-11-22T16:00:00Z is after 2021-01-01T00:00:00Z",
    },
  ])("$name for $host: $why", async ({ name, host, at, why }) => {
    const told = certificateFault("DEPTH_ZERO_SELF_SIGNED_CERT", await leafOf(name), host, at);
    expect(told).toBe(`tls: failed to verify certificate: x509: ${why}`);
  });

  test.each(["ECONNREFUSED", "ENOTFOUND", "EPROTO", "ERR_SSL_WRONG_VERSION_NUMBER", "INVALID_URL", ""])(
    "%s is not a certificate error",
    (code) => {
      expect(isCertificateFault(code)).toBe(false);
    },
  );
});
