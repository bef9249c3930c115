import { followUps } from "./follow-ups.ts";
import { mayWrite } from "./may-write.ts";
import { onEnd } from "./on-end.ts";
import { onRenew } from "./on-renew.ts";
import { onRequest } from "./on-request.ts";
import { onSweep } from "./on-sweep.ts";
import { onWakeUp } from "./on-wake-up.ts";
import { tryAgain } from "./try-again.ts";

/**
 * The protocol: every decision of the work queue, as pure functions of an item and what was heard. The driver carries
 * them out. See docs/work-queue.md for the picture and docs/adr/0002-work-queue.md for the reasons.
 */
export const rules = { followUps, mayWrite, onEnd, onRenew, onRequest, onSweep, onWakeUp, tryAgain } as const;
export type Rules = typeof rules;
