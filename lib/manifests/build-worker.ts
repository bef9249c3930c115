import { parentPort, workerData } from "node:worker_threads";
import { isJsonObject } from "../core/json.ts";
import { attemptPlain } from "./build-plain.ts";
import type { Job } from "./off-thread.ts";
import { parseOutput } from "./parse-output.ts";

/** Does the one job that off-thread.ts started this thread for. */
function perform(job: Job): void {
  switch (job.kind) {
    case "plain":
      parentPort?.postMessage(attemptPlain(job.files, job.spec));
      return;
    case "parse":
      parentPort?.postMessage(parseOutput(job.text, job.what));
      return;
  }
}

/** Only off-thread.ts starts this thread, so the kind is enough to tell its jobs apart. */
function isJob(value: unknown): value is Job {
  return isJsonObject(value) && (value["kind"] === "plain" || value["kind"] === "parse");
}

if (isJob(workerData)) perform(workerData);
