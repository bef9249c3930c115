import { describe, expect, test } from "vitest";
import { testTimeoutMs } from "../deadline.ts";
import { isHintBurst, simulate } from "../unit/queue/simulator/simulate.ts";
import { realAws } from "./real-aws.ts";
import { simulatedSqs } from "./simulated-sqs.ts";
import { sqsFaults } from "./sqs-faults.ts";
import { wireFaults } from "./wire-faults.ts";

const connection = realAws("SQS");
const only = process.env["SLUICE_SIM_SQS_SEED"];
const count = Number(process.env["SLUICE_SIM_SQS_SEEDS"] ?? 1);
const seeds = only === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(only)];

/**
 * The messages lie in the queue: what is sent, hidden, removed and handed out again is so there. When a delay or a time in hand is
 * over, the story's virtual time says, since minutes and quarters of an hour cannot be waited for: the wire takes both times out of the
 * calls that got there and tells them. That SQS keeps them by its own clock is for the contract suite, in seconds.
 */
describe.skipIf(connection === undefined)("where SLUICE_REAL_SQS names one (npm run real -- up)", () => {
  test.each(seeds)(
    "the work queue keeps its guarantees on SQS under every fault of its own and of the connection: seed %i",
    { timeout: 2 * testTimeoutMs },
    async (seed) => {
      const { of: faultOf, met } = wireFaults(sqsFaults, seed);
      await using queue = await simulatedSqs(connection ?? { region: "" }, faultOf);
      const { violations, trace } = await simulate(seed, { queue }, only !== undefined);
      if (only !== undefined) process.stdout.write(`${trace.join("\n")}\n`);
      const replay = `SLUICE_SIM_SQS_SEED=${seed} npx vitest run test/contract/aws-queue-simulator.test.ts`;
      expect(violations, `replay it with its trace: ${replay}`).toEqual([]);
      // A burst of hints alone is a short story.
      expect(met.size).toBeGreaterThan(isHintBurst(seed) ? 2 : 3);
    },
  );
});
