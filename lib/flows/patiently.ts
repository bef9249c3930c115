import { z } from "zod";
import { backOffMs } from "../core/back-off.ts";
import { Failure, messageOf } from "../core/failure.ts";
import { isOutage, Outage } from "../core/outage.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError } from "../core/ports/cluster.ts";
import type { Log } from "../core/ports/log.ts";
import type { Flow, Run } from "../core/run.ts";

/** The outage that is under way: failed tries, since when (wall time in milliseconds), whether the object says so. */
const Patience = z.object({
  outage: z.object({ tries: z.number().int().min(0), since: z.number(), told: z.boolean() }),
});

/** Shorter ones are nobody's business: Ready would flap at each hiccup of an API server. */
const toldAfterMs = 20_000;

export interface PatienceDeps {
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  /** Has the object say what keeps its runs from their end. `wasTold`: an earlier run of the same outage has told it. */
  readonly tell: (run: Run, failure: Failure, wasTold: boolean) => Promise<void>;
}

/**
 * The flow, made to outlast a cluster or a store that does not answer, throttles or forbids for a while: such a run is tried
 * again with back-off and never counts as an attempt that did not end, which would park the object for somebody else's fault.
 * Where it lasts and the object can be written, it says so. What the API server calls a malformed request is thrown on.
 */
export function patiently(flow: Flow, { clock, log, tell }: PatienceDeps): Flow {
  return async (run) => {
    try {
      return await flow(run);
    } catch (error) {
      if (!isOutage(error)) throw error;
      const now = clock.now();
      const { tries, since, told } = Patience.safeParse(run.memo).data?.outage ?? { tries: 0, since: now, told: false };
      const dueInMs = backOffMs(tries);
      log.warn("an outage kept a run from its end, trying again", { key: run.key, dueInMs, error: messageOf(error) });
      const isTold =
        now - since < toldAfterMs ? told : await isTaken(() => tell(run, failureOf(error), told), run, log);
      const outage = { tries: tries + 1, since, told: told || isTold };
      return { outcome: "unreachable", dueInMs, memo: { ...run.memo, outage } };
    }
  };
}

function failureOf(error: ApiError | Outage): Failure {
  const reason = error instanceof Outage ? error.reason : "ReconciliationFailed";
  return new Failure(reason, error.message, { cause: error });
}

/** Whether the cluster took what was told: it may be what is down. */
async function isTaken(tell: () => Promise<void>, { key }: Run, log: Log): Promise<boolean> {
  try {
    await tell();
    return true;
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof Outage)) throw error;
    log.warn("the outage cannot be told in the object's status", { key, error: messageOf(error) });
    return false;
  }
}
