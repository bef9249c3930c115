import { parentPort, workerData } from "node:worker_threads";
import { isJsonObject } from "../core/json.ts";
import { attemptPlain } from "./attempt-plain.ts";
import type { Job } from "./off-thread.ts";
import { parseOutput } from "./parse-output.ts";

/** The thread that off-thread.ts starts for one job. */
function perform(job: Job): void {
  switch (job.kind) {
    case "plain":
      parentPort?.postMessage(attemptPlain(job.files, job.spec));
      return;
    case "parse":
      parentPort?.postMessage(parseOutput(job.text));
      return;
  }
}

/** The thread is started by off-thread.ts alone: the kind tells which of its jobs this is. */
function isJob(value: unknown): value is Job {
  return isJsonObject(value) && (value["kind"] === "plain" || value["kind"] === "parse");
}

if (isJob(workerData)) perform(workerData);
