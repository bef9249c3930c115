import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../../../local/start-receiver.ts";
import { silentLog } from "../../doubles/silent-log.ts";

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver({
    port: 0,
    names: ["hooks.example"],
    receive: async ({ uri }) => new Response(`webhook ${uri}`, { status: 200 }),
    pages: { "/notifications": () => "what Alerts send\n" },
    log: silentLog,
  });
});
afterAll(() => receiver.close());

async function ask(path: string, headers: Readonly<Record<string, string>> = {}) {
  const sent = request(`${receiver.url}${path}`, { headers });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sent.on("response", resolve).on("error", reject);
  });
  sent.end();
  const response = await answered;
  return { status: response.statusCode, type: response.headers["content-type"], body: await text(response) };
}

test("a page is shown as plain text on this machine, and everything else is a webhook", async () => {
  const type = "text/plain; charset=utf-8";
  expect(await ask("/notifications")).toEqual({ status: 200, type, body: "what Alerts send\n" });
  expect((await ask("/notifications/x")).body).toBe("webhook /notifications/x");
  expect((await ask("/toString")).body).toBe("webhook /toString");
});

test.each([
  { host: "hooks.example" },
  { host: "evil.example" },
  { "x-forwarded-for": "203.0.113.7" },
  { forwarded: "for=203.0.113.7" },
  { origin: "https://evil.example" },
])("a page is not shown to requests from a tunnel or another web page: %o", async (headers) => {
  const { status, body } = await ask("/notifications", headers);
  expect([status, body]).toEqual([403, expect.not.stringContaining("Alerts")]);
});

test("webhooks are accepted under the receiver's host names", async () => {
  expect((await ask("/hook/a", { host: "hooks.example", "x-forwarded-for": "203.0.113.7" })).status).toBe(200);
});
