// How the host answers a question of a blocked module: by shared memory, since a blocked thread receives no message.

/** The answer to a module: a text, or the text of an error. */
export interface Reply {
  readonly text: string;
  readonly isError: boolean;
}

/** The limit for one answer, in UTF-8. */
export const maxReplyBytes = 16 * 1024 * 1024;
/** How long a thread waits for one answer. */
export const maxReplyWaitMs = 30_000;

/** Whether an answer is there, and its length in bytes: below 0 it is that of an error. */
const headerBytes = 8;
const isWaiting = 0;
const isThere = 1;

/** The memory for the answers to one request. It grows with the longest of them. */
export function newReplies(): SharedArrayBuffer {
  return new SharedArrayBuffer(headerBytes, { maxByteLength: headerBytes + maxReplyBytes });
}

/** Answers the question that the thread waits for. */
export function writeReply(replies: SharedArrayBuffer, { text, isError }: Reply): void {
  const whole = Buffer.from(text);
  const bytes = whole.length > maxReplyBytes ? Buffer.from(`the answer has more than ${maxReplyBytes} bytes`) : whole;
  const asError = isError || bytes !== whole;
  if (replies.byteLength < headerBytes + bytes.length) replies.grow(headerBytes + bytes.length);
  new Uint8Array(replies, headerBytes).set(bytes);
  const header = new Int32Array(replies, 0, 2);
  Atomics.store(header, 1, asError ? -bytes.length : bytes.length);
  Atomics.store(header, 0, isThere);
  Atomics.notify(header, 0);
}

/** Blocks until the host has answered, for {@link maxReplyWaitMs} at most. `ask` sends the question. */
export function awaitReply(replies: SharedArrayBuffer, ask: () => void): Reply {
  const header = new Int32Array(replies, 0, 2);
  Atomics.store(header, 0, isWaiting);
  ask();
  if (Atomics.wait(header, 0, isWaiting, maxReplyWaitMs) === "timed-out") {
    return { text: `no answer within ${maxReplyWaitMs / 1000} s`, isError: true };
  }
  const length = Atomics.load(header, 1);
  // Copied: text is not decoded out of shared memory.
  const bytes = Uint8Array.from(new Uint8Array(replies, headerBytes, Math.abs(length)));
  return { text: Buffer.from(bytes).toString(), isError: length < 0 };
}
