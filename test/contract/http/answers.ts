import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { faultOf, httpWorld, type OpenHttp, textOf } from "./http-world.ts";

export function answersContract(open: OpenHttp): void {
  describe("an HTTP answer", () => {
    const { serve, send } = httpWorld(open);

    test.each([200, 204, 304, 401, 404, 429, 500, 503])("may have status %i", async (status) => {
      const url = await serve((_, response) => response.writeHead(status).end());
      expect((await send(url)).status).toBe(status);
    });

    test("has its headers by lower-case names, with several values joined", async () => {
      const url = await serve((_, response) => {
        response.setHeader("Link", ["<a>", "<b>"]).setHeader("Docker-Content-Digest", "sha256:0").end();
      });
      expect((await send(url)).headers).toMatchObject({ link: "<a>, <b>", "docker-content-digest": "sha256:0" });
    });

    test("contains every byte, up to the limit", async () => {
      const bytes = Uint8Array.from({ length: 1_000 }, (_, index) => index % 256);
      const url = await serve((_, response) => response.end(bytes));
      expect(new Uint8Array((await send(url)).body)).toEqual(bytes);
    });

    test.each<[string, (response: ServerResponse) => void]>([
      ["says so", (response) => response.end(Buffer.alloc(1_001))],
      ["does not say so", (response) => void (response.write(Buffer.alloc(600)) && response.end(Buffer.alloc(401)))],
      [
        "does not end",
        (response) => {
          const more = (): void => {
            while (response.write(Buffer.alloc(100))) if (response.destroyed) return;
          };
          response.on("drain", more);
          more();
        },
      ],
    ])("that exceeds the limit by a byte and %s is refused", async (_, answer) => {
      const url = await serve((_request, response) => answer(response));
      expect(await faultOf(send(url))).toMatchObject({
        name: "HttpError",
        reason: "too-large",
        message: `GET ${url}/: the answer is longer than 1000 bytes`,
      });
    });

    test("belongs to its request, even with many in parallel and some failing", async () => {
      const url = await serve(({ url: path = "" }, response) => {
        if (path === "/3") response.destroy();
        else setImmediate(() => response.end(path));
      });
      const answers = Array.from({ length: 60 }, (_, index) => faultOf(send(`${url}/${index % 5}`).then(textOf)));
      const found = (await Promise.all(answers)).map((one) => (typeof one === "string" ? one : "failed"));
      const expected = ["/0", "/1", "/2", "failed", "/4"];
      expect(found).toEqual(Array.from({ length: 60 }, (_, index) => expected[index % 5]));
    });
  });
}
