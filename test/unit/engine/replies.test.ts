import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { maxReplyBytes, maxReplyWaitMs, newReplies, type Reply, writeReply } from "../../../lib/engine/replies.ts";

const program = `
import { parentPort, workerData } from "node:worker_threads";
import { awaitReply } from ${JSON.stringify(new URL("../../../lib/engine/replies.ts", import.meta.url).href)};
const { text, isError } = awaitReply(workerData, () => parentPort.postMessage("asked"));
parentPort.postMessage({ length: text.length, start: text.slice(0, 60), isError });
`;

/** What a thread that asks gets. */
async function got(reply: Reply): Promise<unknown> {
  const replies = newReplies();
  const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
  const worker = new Worker(url, { workerData: replies });
  const { promise, reject, resolve } = Promise.withResolvers();
  worker.on("error", reject).on("message", (message) => {
    if (message === "asked") writeReply(replies, reply);
    else resolve(message);
  });
  try {
    return await promise;
  } finally {
    await worker.terminate();
  }
}

test("a waiting thread gets the answer, or the text of an error", async () => {
  expect(await got({ text: "färbe", isError: false })).toEqual({ length: 5, start: "färbe", isError: false });
  expect(await got({ text: "forbidden", isError: true })).toEqual({ length: 9, start: "forbidden", isError: true });
});

test("an answer has at most the bytes that a thread may read", async () => {
  const most = "x".repeat(maxReplyBytes);
  expect(await got({ text: most, isError: false })).toMatchObject({ length: maxReplyBytes, isError: false });
  const start = `the answer has more than ${maxReplyBytes} bytes`;
  expect(await got({ text: `${most}x`, isError: false })).toMatchObject({ start, isError: true });
});

test("a thread waits half a minute for an answer", () => {
  expect(maxReplyWaitMs).toBe(30_000);
});
