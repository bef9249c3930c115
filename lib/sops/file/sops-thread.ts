import { parentPort, workerData } from "node:worker_threads";
import { isJsonObject } from "../../core/json.ts";
import { SopsFault } from "../sops-fault.ts";
import { atOnce } from "../steps.ts";
import { loadFile } from "./load-file.ts";
import type { SopsAnswer, SopsJob } from "./off-thread.ts";
import { emitFile, openFile } from "./open-file.ts";

/** Does the one job that off-thread.ts started this thread for. */
function perform(job: SopsJob): SopsAnswer {
  try {
    switch (job.kind) {
      case "load":
        return { result: atOnce(loadFile(job.bytes, job.format)).metadata };
      case "verify":
        atOnce(openFile(atOnce(loadFile(job.bytes, job.format)), false, job.dataKey));
        return { result: undefined };
      case "decrypt": {
        const { input, ignoreMac = false } = job.formats;
        const branches = atOnce(openFile(atOnce(loadFile(job.bytes, input)), ignoreMac, job.dataKey));
        return { result: emitFile(branches, job.formats) };
      }
    }
  } catch (error) {
    if (error instanceof SopsFault) return { fault: error.message };
    throw error;
  }
}

const kinds: ReadonlySet<unknown> = new Set<SopsJob["kind"]>(["load", "verify", "decrypt"]);

/** Only off-thread.ts starts this thread, so the kind is enough to tell its jobs apart. */
function isJob(value: unknown): value is SopsJob {
  return isJsonObject(value) && kinds.has(value["kind"]);
}

if (isJob(workerData)) parentPort?.postMessage(perform(workerData));
