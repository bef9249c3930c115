import { expect, test } from "vitest";
import { lookAFewTimes } from "../../../lib/apply/poll.ts";
import { skippingClock } from "../../e2e/flow/skipping-clock.ts";

test("a Job that Kubernetes completes 1,030 ms after its start is found by the run that has started it", async () => {
  const clock = skippingClock();
  const startedAt = clock.monotonic();
  const look = async () => (clock.monotonic() - startedAt >= 1_030 ? "complete" : undefined);
  expect(await lookAFewTimes(look, clock, new AbortController().signal)).toBe("complete");
});
