import { parentPort, workerData } from "node:worker_threads";
import { isJsonObject } from "../../core/json.ts";
import { attemptPlain } from "../build-plain.ts";
import { parseOutput } from "../parse-output.ts";
import { valuesOfFile } from "../sealed/plain-values.ts";
import { sealedParts } from "../sealed/sealed-parts.ts";
import { substituteDocument } from "../substitute/substitute-document.ts";
import type { Job } from "./off-thread.ts";

/** Does the one job that off-thread.ts started this thread for. */
function perform(job: Job): unknown {
  switch (job.kind) {
    case "plain":
      return attemptPlain(job.files, job.spec);
    case "parse":
      return parseOutput(job.text, job.what);
    case "seal":
      return sealedParts(job.search);
    case "values":
      return valuesOfFile(job.file);
    case "substitute":
      return substituteDocument(job.template);
  }
}

const kinds: ReadonlySet<unknown> = new Set<Job["kind"]>(["plain", "parse", "seal", "values", "substitute"]);

/** Only off-thread.ts starts this thread, so the kind is enough to tell its jobs apart. */
function isJob(value: unknown): value is Job {
  return isJsonObject(value) && kinds.has(value["kind"]);
}

if (isJob(workerData)) parentPort?.postMessage(perform(workerData));
