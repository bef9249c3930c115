import type { RequestListener } from "node:http";
import { TLSSocket } from "node:tls";
import { describe, expect, test } from "vitest";
import { pem } from "../../doubles/pem.ts";
import { faultOf, httpWorld, type OpenHttp, textOf } from "./http-world.ts";

export function trustContract(open: OpenHttp): void {
  describe("a server with TLS", () => {
    const { serve, serveSecurely, send } = httpWorld(open);

    const hello: RequestListener = (_, response) => response.end("hello");

    test("of an unknown authority is not trusted, unless its authority is named or nothing is checked", async () => {
      const url = await serveSecurely("server", hello);
      expect(await faultOf(send(url))).toMatchObject({ kind: "tls" });
      expect(textOf(await send(url, { tls: { ca: await pem("server.crt") } }))).toBe("hello");
      expect(textOf(await send(url, { tls: { insecure: true } }))).toBe("hello");
      // What one request has trusted does not count for the next.
      expect(await faultOf(send(url))).toMatchObject({ kind: "tls" });
    });

    test("for another name, or with a certificate that has ended, is not trusted", async () => {
      for (const certificate of ["amazon", "expired"]) {
        const url = await serveSecurely(certificate, hello);
        expect(await faultOf(send(url, { tls: { ca: await pem(`${certificate}.crt`) } }))).toMatchObject({
          kind: "tls",
        });
      }
    });

    test("is shown our certificate where it asks for one", async () => {
      const who: RequestListener = ({ socket }, response) => {
        response.end(socket instanceof TLSSocket ? JSON.stringify(socket.getPeerCertificate().subject) : "nobody");
      };
      const url = await serveSecurely("server", who, true);
      const [ca, cert, key] = await Promise.all(["server.crt", "client.crt", "client.key"].map(pem));
      expect(textOf(await send(url, { tls: { ca: ca ?? "", cert: cert ?? "", key: key ?? "" } }))).toContain("jane");
      expect(textOf(await send(url, { tls: { ca: ca ?? "" } }))).not.toContain("jane");
    });

    test("and one without are not taken for each other", async () => {
      const secure = await serveSecurely("server", hello);
      expect(await faultOf(send(secure.replace("https:", "http:")))).toMatchObject({ name: "HttpError" });
      const plain = await serve(hello);
      expect(await faultOf(send(plain.replace("http:", "https:")))).toMatchObject({ name: "HttpError" });
    });
  });
}
