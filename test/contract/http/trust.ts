import type { RequestListener } from "node:http";
import { getCACertificates, setDefaultCACertificates, TLSSocket } from "node:tls";
import { describe, expect, test } from "vitest";
import { pem } from "../../doubles/pem.ts";
import { faultOf, httpWorld, type OpenHttp, textOf } from "./http-world.ts";

export function trustContract(open: OpenHttp): void {
  describe("a server with TLS", () => {
    const { serve, serveSecurely, send } = httpWorld(open);

    const hello: RequestListener = (_, response) => response.end("hello");

    test("with an unknown CA is not trusted, unless the CA is given or verification is off", async () => {
      const url = await serveSecurely("server", hello);
      const message = `GET ${url}/: tls: failed to verify certificate: x509: certificate signed by unknown authority`;
      expect(await faultOf(send(url))).toMatchObject({ reason: "tls", message });
      expect(textOf(await send(url, { tls: { ca: await pem("server.crt") } }))).toBe("hello");
      expect(textOf(await send(url, { tls: { insecure: true } }))).toBe("hello");
      // What one request has trusted does not count for the next.
      expect(await faultOf(send(url))).toMatchObject({ reason: "tls" });
    });

    test("is trusted with a CA of the system, even if a request adds another one", async () => {
      const [before, server, client] = [getCACertificates("default"), await pem("server.crt"), await pem("client.crt")];
      setDefaultCACertificates([...before, server]);
      try {
        const url = await serveSecurely("server", hello);
        expect(textOf(await send(url, { tls: { ca: client } }))).toBe("hello");
        // Unless that one takes the place of all others.
        expect(await faultOf(send(url, { tls: { ca: client, isCaAlone: true } }))).toMatchObject({ reason: "tls" });
        expect(textOf(await send(url, { tls: { ca: server, isCaAlone: true } }))).toBe("hello");
      } finally {
        setDefaultCACertificates(before);
      }
    });

    test.each([
      {
        what: "for another name than an address",
        certificate: "amazon",
        why: "cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
      },
      {
        what: "for another name",
        certificate: "server",
        host: "localhost",
        why: "certificate is valid for api.sluice.test, not localhost",
      },
      {
        what: "for another name and with an unknown CA",
        certificate: "amazon",
        host: "localhost",
        ca: "server",
        why: "certificate is valid for sts.eu-west-1.amazonaws.com, *.dkr.ecr.eu-west-1.amazonaws.com, sqs.eu-west-1.amazonaws.com, not localhost",
      },
      {
        what: "for no name",
        certificate: "client",
        host: "localhost",
        why: "certificate is not valid for any names, but wanted to match localhost",
      },
      {
        what: "that has ended",
        certificate: "expired",
        why: "certificate has expired or is not yet valid: current time <now> is after 2021-01-01T00:00:00Z",
      },
    ])(
      "with a certificate $what is not trusted, with Go's text",
      async ({ certificate, host, ca = certificate, why }) => {
        const address = await serveSecurely(certificate, hello);
        const url = host === undefined ? address : address.replace("127.0.0.1", host);
        const fault = await faultOf(send(url, { tls: { ca: await pem(`${ca}.crt`) } }));
        expect(fault).toMatchObject({ name: "HttpError", reason: "tls" });
        const message = fault instanceof Error ? fault.message : "";
        expect(message.replace(/current time \S+Z/, "current time <now>")).toBe(
          `GET ${url}/: tls: failed to verify certificate: x509: ${why}`,
        );
      },
    );

    test("gets our client certificate if it asks for one", async () => {
      const who: RequestListener = ({ socket }, response) => {
        response.end(socket instanceof TLSSocket ? JSON.stringify(socket.getPeerCertificate().subject) : "nobody");
      };
      const url = await serveSecurely("server", who, true);
      const [ca, cert, key] = await Promise.all(["server.crt", "client.crt", "client.key"].map(pem));
      expect(textOf(await send(url, { tls: { ca: ca ?? "", cert: cert ?? "", key: key ?? "" } }))).toContain("jane");
      expect(textOf(await send(url, { tls: { ca: ca ?? "" } }))).not.toContain("jane");
    });

    test("is not confused with a server without TLS", async () => {
      const secure = await serveSecurely("server", hello);
      expect(await faultOf(send(secure.replace("https:", "http:")))).toMatchObject({ name: "HttpError" });
      const plain = await serve(hello);
      expect(await faultOf(send(plain.replace("http:", "https:")))).toMatchObject({ name: "HttpError" });
    });
  });
}
