import { createServer, type RequestListener } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HttpRequest, HttpStreams } from "../../../lib/core/ports/http.ts";
import { deadlineMs } from "../../deadline.ts";
import { closeServer } from "../../doubles/close-server.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { never } from "../state-back-end.ts";
import { faultOf } from "./http-world.ts";

/** What every adapter promises for answers that are read in pieces, beside what the contract of the port says. */
export function streamsContract(name: string, connect: () => HttpStreams & { close(): void }): void {
  describe(`streamed HTTP: ${name}`, () => {
    let opened: AsyncDisposableStack;
    let http: ReturnType<typeof connect>;
    beforeEach(() => {
      opened = new AsyncDisposableStack();
      http = connect();
      opened.defer(() => http.close());
    });
    afterEach(() => opened.disposeAsync());

    async function serve(answer: RequestListener): Promise<string> {
      const server = createServer(answer);
      opened.defer(() => closeServer(server));
      return `http://127.0.0.1:${await portOnLoopback(server)}/`;
    }
    const open = (url: string, more: Partial<HttpRequest> = {}, signal = never) =>
      http.open({ method: "GET", url, timeoutMs: deadlineMs, maxBytes: 1_000, ...more }, signal);

    test("the body arrives as the server sends it, not at its end", async () => {
      const { promise: isRead, resolve } = Promise.withResolvers<void>();
      const url = await serve((_, response) => {
        response.write("first");
        void isRead.then(() => response.end("second"));
      });
      using stream = await open(url);
      const pieces: string[] = [];
      for await (const piece of stream.body) {
        pieces.push(Buffer.from(piece).toString());
        resolve();
      }
      expect(pieces).toEqual(["first", "second"]);
    });

    test("a body that is not read closes its connection", async () => {
      const { promise: isClosed, resolve } = Promise.withResolvers<void>();
      const url = await serve((_, response) => {
        response.once("close", resolve);
        response.write("first");
      });
      const stream = await open(url);
      stream[Symbol.dispose]();
      expect(await isClosed.then(() => "closed")).toBe("closed");
    });

    test("the timeout applies until the end of the body, and so does the caller's signal", async () => {
      const url = await serve((_, response) => void response.write("first"));
      const readAll = async (more: Partial<HttpRequest>, signal?: AbortSignal): Promise<void> => {
        using stream = await open(url, more, signal);
        for await (const piece of stream.body) expect(piece).toHaveLength(5);
      };
      expect(await faultOf(readAll({ timeoutMs: 50 }))).toMatchObject({ name: "HttpError", reason: "timeout" });
      const stop = new AbortController();
      const reading = faultOf(readAll({}, stop.signal));
      stop.abort(new Error("enough"));
      expect(await reading).toMatchObject({ message: "enough" });
    });

    test.each([
      [true, ["one", "two", "two"], "ok"],
      [false, ["one", "two"], expect.objectContaining({ name: "HttpError" })],
    ])("a POST that is safe (%s) is repeated if a kept connection was closed", async (isSafe, sent, answer) => {
      const bodies: string[] = [];
      const server = createServer((request, response) => {
        request.setEncoding("utf8").once("data", (text: string) => {
          bodies.push(text);
          if (bodies.length === 2) request.socket.destroy();
          else response.end("ok");
        });
      });
      opened.defer(() => closeServer(server));
      const url = `http://127.0.0.1:${await portOnLoopback(server)}/`;
      const post = async (text: string): Promise<string> => {
        using stream = await open(url, { method: "POST", body: Buffer.from(text), isSafe });
        let all = "";
        for await (const piece of stream.body) all += Buffer.from(piece).toString();
        return all;
      };
      expect(await post("one")).toBe("ok");
      expect(await faultOf(post("two"))).toEqual(answer);
      expect(bodies).toEqual(sent);
    });
  });
}
