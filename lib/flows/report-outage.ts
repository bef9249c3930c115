import { findCondition } from "../api/condition.ts";
import type { Failure } from "../core/failure.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Cluster } from "../core/ports/cluster.ts";
import type { Run } from "../core/run.ts";
import { tellOfObject } from "./tell-of-object.ts";
import { toldKind } from "./told-kind.ts";

/**
 * Tells the users of an object what keeps its runs from their end for longer than a moment: Ready=False with the reason, and
 * Reconciling, since it is tried again. One Event for an outage, and one for each request of a user.
 *
 * @param wasTold whether an earlier run has told of this outage
 */
export async function reportOutage(
  run: Run,
  failure: Failure,
  wasTold: boolean,
  deps: { readonly cluster: Cluster; readonly clock: Clock },
): Promise<void> {
  const { reason, message } = failure;
  await tellOfObject(
    run,
    ({ conditions: before, generation, requestedAt, handledAt }) => {
      const now = { generation, at: deps.clock.now() };
      const ready = findCondition(before, "Ready");
      const isSame = ready?.status === "False" && ready.reason === reason && ready.message === message;
      const isNews = !(wasTold || isSame) || (requestedAt !== undefined && requestedAt !== handledAt);
      return {
        conditions: toldKind(run.key).failing(before, failure, now),
        handledAt: requestedAt,
        event: isNews ? { type: "Warning", reason, message, annotations: {} } : undefined,
      };
    },
    deps,
  );
}
