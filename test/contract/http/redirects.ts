import type { RequestListener } from "node:http";
import { TLSSocket } from "node:tls";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { pem } from "../../doubles/pem.ts";
import { faultOf, httpWorld, type OpenHttp, textOf } from "./http-world.ts";

export function redirectsContract(open: OpenHttp): void {
  describe("an HTTP redirect", () => {
    const { serve, serveSecurely, send } = httpWorld(open);

    const redirect =
      (location: string, status = 307): RequestListener =>
      (_, response) =>
        response.writeHead(status, { location }).end();

    test.each([301, 302, 303, 307, 308])("with status %i is followed only for GET and HEAD", async (status) => {
      const url = await serve((request, response) => {
        if (request.url === "/end") response.end("end");
        else redirect("/end", status)(request, response);
      });
      expect(textOf(await send(url, { maxRedirects: 1 }))).toBe("end");
      expect((await send(url, { method: "HEAD", maxRedirects: 1 })).status).toBe(200);
      for (const method of ["DELETE", "PATCH", "POST", "PUT"] as const) {
        expect((await send(url, { method, maxRedirects: 1 })).status).toBe(status);
      }
    });

    test.each([
      ["more often than allowed", 2, "/again"],
      ["where none is followed", undefined, "/again"],
      ["to another protocol", 2, "ftp://127.0.0.1/"],
      ["to an invalid URL", 2, "http://[/"],
    ])("%s is an error", async (_, maxRedirects, location) => {
      const url = await serve(redirect(location));
      expect(await faultOf(send(url, maxRedirects === undefined ? {} : { maxRedirects }))).toMatchObject({
        reason: "redirect",
      });
    });

    test("from https to http is not followed", async () => {
      let plain = 0;
      const target = await serve((_, response) => {
        plain += 1;
        response.end();
      });
      const url = await serveSecurely("server", redirect(target));
      const ca = await pem("server.crt");
      expect(await faultOf(send(url, { maxRedirects: 2, tls: { ca } }))).toMatchObject({ reason: "redirect" });
      expect(plain).toBe(0);
    });

    test("sends the credentials again only to the same host", async () => {
      const seen: unknown[] = [];
      const elsewhere = await serve(({ headers }, response) => {
        seen.push([headers.authorization, headers.cookie, headers["x-other"]]);
        response.end();
      });
      const url = await serve((request, response) => {
        const { authorization, cookie } = request.headers;
        seen.push([authorization, cookie, request.headers["x-other"]]);
        redirect(request.url === "/" ? "/inside" : elsewhere)(request, response);
      });
      await send(url, { maxRedirects: 2, headers: { Authorization: "Bearer t", Cookie: "c=1", "X-Other": "o" } });
      expect(seen).toEqual([
        ["Bearer t", "c=1", "o"],
        ["Bearer t", "c=1", "o"],
        [undefined, undefined, "o"],
      ]);
    });

    test("that comes back from another host sends no credentials, because that host may have sent it", async () => {
      const seen: unknown[] = [];
      let own = "";
      const elsewhere = await serve((request, response) => redirect(`${own}/end`)(request, response));
      own = await serve((request, response) => {
        seen.push([request.url, request.headers.authorization]);
        if (request.url === "/end") response.end();
        else redirect(elsewhere)(request, response);
      });
      await send(`${own}/begin`, { maxRedirects: 2, headers: { Authorization: "Bearer t" } });
      expect(seen).toEqual([
        ["/begin", "Bearer t"],
        ["/end", undefined],
      ]);
    });

    test("sends a client certificate only to its own host", async () => {
      const seen: string[] = [];
      const note =
        (name: string, then: RequestListener): RequestListener =>
        (request, response) => {
          const { socket } = request;
          const subject = socket instanceof TLSSocket ? inspect(socket.getPeerCertificate().subject) : "plain";
          seen.push(`${name}: ${subject.includes("jane") ? "jane" : "nobody"}`);
          then(request, response);
        };
      const end: RequestListener = (_, response) => response.end();
      const elsewhere = await serveSecurely("server", note("elsewhere", end), true);
      const url = await serveSecurely("server", note("own", redirect(elsewhere)), true);
      const [ca = "", cert = "", key = ""] = await Promise.all(["server.crt", "client.crt", "client.key"].map(pem));
      await send(url, { maxRedirects: 2, tls: { ca, cert, key } });
      expect(seen).toEqual(["own: jane", "elsewhere: nobody"]);
    });

    test("is visible in the answer, which has the final URL", async () => {
      const elsewhere = await serve((_, response) => response.end());
      const url = await serve(redirect(`${elsewhere}/end`));
      expect((await send(`${url}/begin`, { maxRedirects: 1 })).url).toBe(`${elsewhere}/end`);
      expect((await send(`${elsewhere}/begin`)).url).toBe(`${elsewhere}/begin`);
    });

    test("counts towards the timeout of the whole exchange", async () => {
      const url = await serve((request, response) => {
        setTimeout(() => redirect("/again")(request, response), 40);
      });
      expect(await faultOf(send(url, { timeoutMs: 200, maxRedirects: 1_000 }))).toMatchObject({ reason: "timeout" });
    });
  });
}
