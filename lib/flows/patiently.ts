import { z } from "zod";
import { backOffMs } from "../core/back-off.ts";
import { messageOf } from "../core/failure.ts";
import { ApiError } from "../core/ports/cluster.ts";
import type { Log } from "../core/ports/log.ts";
import type { Flow } from "../core/run.ts";

const Patience = z.object({ outages: z.number().int().min(0) });

/**
 * The flow, made to outlast a cluster that does not answer, throttles or forbids for a while: such a run is tried again
 * with back-off and never counts as an attempt that did not end, which would park the object for somebody else's fault.
 * What the API server calls a malformed request is ours and is thrown on.
 */
export function patiently(flow: Flow, log: Log): Flow {
  return async (run) => {
    try {
      return await flow(run);
    } catch (error) {
      if (!(error instanceof ApiError) || isOurs(error)) throw error;
      const parsed = Patience.safeParse(run.memo ?? {});
      const outages = parsed.success ? parsed.data.outages : 0;
      const dueInMs = backOffMs(outages);
      log.warn("the cluster kept a run from its end, trying again", { key: run.key, dueInMs, error: messageOf(error) });
      return { outcome: "unreachable", dueInMs, memo: { ...run.memo, outages: outages + 1 } };
    }
  };
}

function isOurs({ code }: ApiError): boolean {
  return [400, 405, 406, 413, 415, 422].includes(code);
}
