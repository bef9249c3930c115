import { once } from "node:events";
import { createServer as createTcpServer } from "node:net";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { faultOf, httpWorld, type OpenHttp } from "./http-world.ts";

export function failuresContract(open: OpenHttp): void {
  describe("an HTTP failure", () => {
    const { listen, serve, send } = httpWorld(open);

    test("to connect is unreachable", async () => {
      const server = createTcpServer();
      const address = await listen(server);
      server.close();
      await once(server, "close");
      expect(await faultOf(send(`http://${address}/`))).toMatchObject({ reason: "unreachable" });
    });

    test.each([
      ["that is not HTTP", "hello\r\n"],
      ["that is cut off", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"],
      ["whose headers are cut off", "HTTP/1.1 200 OK\r\ncontent-le"],
    ])("because of an answer %s is a protocol failure", async (_, answer) => {
      const server = createTcpServer((socket) => {
        socket.on("error", () => undefined);
        socket.once("data", () => socket.end(answer));
      });
      expect(await faultOf(send(`http://${await listen(server)}/`))).toMatchObject({ reason: "protocol" });
    });

    test("names method and URL, without query and headers", async () => {
      const url = await serve((_, response) => response.destroy());
      const secrets = { url: `${url}/v2/?token=hunter2`, headers: { authorization: "Bearer hunter3" } };
      const error = await faultOf(send(secrets.url, { method: "POST", ...secrets }));
      expect(error).toMatchObject({ name: "HttpError", message: expect.stringContaining(`POST ${url}/v2/: `) });
      expect(inspect(error, { depth: 10 })).not.toMatch(/hunter/);
    });
  });
}
