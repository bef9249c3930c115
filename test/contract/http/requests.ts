import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import type { HttpRequest } from "../../../lib/core/ports/http.ts";
import { faultOf, httpWorld, type OpenHttp, textOf } from "./http-world.ts";

export function requestsContract(open: OpenHttp): void {
  describe("an HTTP request", () => {
    const { serve, send } = httpWorld(open);

    test.each(["DELETE", "PATCH", "POST", "PUT"] as const)(
      "with %s sends its headers and its bytes",
      async (method) => {
        const bytes = new Uint8Array([0, 255, 10]);
        const url = await serve((request, response) => {
          const { headers } = request;
          void buffer(request).then((body) =>
            response.end(JSON.stringify([request.method, headers["x-kind"], headers["content-length"], [...body]])),
          );
        });
        const answer = await send(url, { method, headers: { "X-Kind": "k" }, body: bytes });
        expect(JSON.parse(textOf(answer))).toEqual([method, "k", "3", [...bytes]]);
      },
    );

    test("whose signal is already aborted is not sent", async () => {
      let requests = 0;
      const url = await serve((_, response) => {
        requests += 1;
        response.end();
      });
      const reason = new Error("enough");
      await expect(send(url, {}, AbortSignal.abort(reason))).rejects.toBe(reason);
      expect(requests).toBe(0);
    });

    test.each([
      ["before its answer", false],
      ["during its answer", true],
    ])("that is aborted %s ends with the reason and closes its connection", async (_, begins) => {
      const stop = new AbortController();
      const reason = new Error("the time is up");
      const ended = Promise.withResolvers<void>();
      const url = await serve((request, response) => {
        request.socket.once("close", () => ended.resolve());
        if (begins) response.write("begun");
        setImmediate(() => stop.abort(reason));
      });
      await expect(send(url, {}, stop.signal)).rejects.toBe(reason);
      await ended.promise;
    });

    test.each([
      ["nothing", false],
      ["half an answer", true],
    ])("that gets %s before its timeout is a timeout, and the next one is answered", async (_, begins) => {
      const url = await serve((request, response) => {
        if (request.url !== "/never") response.end("in time");
        else if (begins) response.write("begun");
      });
      expect(await faultOf(send(`${url}/never`, { timeoutMs: 100 }))).toMatchObject({
        reason: "timeout",
        message: `GET ${url}/never: no answer within 100 ms`,
      });
      expect(textOf(await send(url))).toBe("in time");
    });

    /** Whether each method may be repeated, also if the caller does not say that it is safe. */
    const methods: {
      readonly [Method in HttpRequest["method"]]: { readonly method: Method; readonly mayRepeat: boolean };
    } = {
      DELETE: { method: "DELETE", mayRepeat: true },
      GET: { method: "GET", mayRepeat: true },
      HEAD: { method: "HEAD", mayRepeat: true },
      PATCH: { method: "PATCH", mayRepeat: false },
      POST: { method: "POST", mayRepeat: false },
      PUT: { method: "PUT", mayRepeat: true },
    };
    test.each(
      Object.values(methods).flatMap(({ method, mayRepeat }) => [
        { method, isSafe: false, isRepeated: mayRepeat },
        { method, isSafe: true, isRepeated: true },
      ]),
    )("with $method (safe: $isSafe) is repeated once if a kept connection breaks: $isRepeated", async (each) => {
      const { method, isRepeated, isSafe } = each;
      const seen: unknown[] = [];
      const sockets = new Set<unknown>();
      const url = await serve(({ method: asked, socket }, response) => {
        seen.push(asked);
        if (sockets.has(socket)) socket.destroy();
        else response.end("once");
        sockets.add(socket);
      });
      await send(url);
      const answer = await faultOf(send(url, { method, isSafe }));
      expect(answer).toMatchObject(isRepeated ? { status: 200 } : { name: "HttpError" });
      expect(seen).toEqual(["GET", method, ...(isRepeated ? [method] : [])]);
    });
  });
}
