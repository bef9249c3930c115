import { parentPort, workerData } from "node:worker_threads";
import { instantiate, moduleIn, perform } from "./go-module.ts";
import type { ModuleJob, ModuleQuestion } from "./module-threads.ts";
import { awaitReply } from "./replies.ts";
import type { MoreImports } from "./sandbox-imports.ts";

const programName = "helm\0";

/** The thread of Helm's module: like the other threads, except for `lookup`, which blocks it, and for the start of Helm's packages. */
if (parentPort !== null) {
  const port = parentPort;
  let replies: SharedArrayBuffer | undefined;
  let answer: Uint8Array = Buffer.alloc(0);
  const more: MoreImports = (bytes) => {
    const view = (): DataView => new DataView(bytes().buffer);
    return {
      // klog reads the name of the program when it is loaded.
      args_sizes_get: (count: number, size: number) => {
        view().setUint32(count, 1, true);
        view().setUint32(size, programName.length, true);
        return 0;
      },
      args_get: (list: number, text: number) => {
        view().setUint32(list, text, true);
        bytes().set(Buffer.from(programName), text);
        return 0;
      },
      // Clock 0 is the time of day, which templates may print.
      clock_time_get: (clock: number, _precision: bigint, out: number) => {
        const now = clock === 0 ? BigInt(Date.now()) * 1_000_000n : process.hrtime.bigint();
        view().setBigUint64(out, now, true);
        return 0;
      },
      // Go polls after each collection once a timer exists, and random numbers create one. Nothing is ever ready here.
      poll_oneoff: (_in: number, _out: number, _count: number, events: number) => {
        view().setUint32(events, 0, true);
        return 0;
      },
      lookup: (at: number, length: number) => {
        const question = Buffer.from(bytes().subarray(at, at + length)).toString();
        const reply =
          replies === undefined
            ? { text: "lookup is not available", isError: true }
            : awaitReply(replies, () => port.postMessage({ question } satisfies ModuleQuestion));
        answer = Buffer.from(reply.text);
        return reply.isError ? -answer.length : answer.length;
      },
      answer: (at: number) => bytes().set(answer, at),
    };
  };
  const { go, host } = instantiate(moduleIn(workerData), more);
  port.on("message", (job: ModuleJob) => {
    replies = job.replies;
    port.postMessage(perform(go, host, job));
  });
}
