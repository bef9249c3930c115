import { describe, expect, test } from "vitest";
import { testTimeoutMs } from "../deadline.ts";
import type { RealQueue } from "../unit/queue/simulator/real-queue.ts";
import { simulate } from "../unit/queue/simulator/simulate.ts";
import { dynamodbFaults } from "./dynamodb-faults.ts";
import { realAws } from "./real-aws.ts";
import { type SimulatedDynamodb, simulatedDynamodb } from "./simulated-dynamodb.ts";
import { simulatedSqs } from "./simulated-sqs.ts";
import { sqsFaults } from "./sqs-faults.ts";
import { wireFaults } from "./wire-faults.ts";

const connection = realAws("DYNAMODB");
const sqs = realAws("SQS");
const only = process.env["SLUICE_SIM_DYNAMODB_SEED"];
const count = Number(process.env["SLUICE_SIM_DYNAMODB_SEEDS"] ?? 1);
const seeds = only === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(only)];
// Where both parts are named, the first seed is played on both together.
const [first, ...others] = seeds;
const timeout = 2 * testTimeoutMs;

describe.skipIf(connection === undefined)("where SLUICE_REAL_DYNAMODB names one (npm run real -- up)", () => {
  const of = connection ?? { region: "" };
  /** What went wrong, and how to play it again. */
  const play = async (seed: number, table: SimulatedDynamodb, queue?: RealQueue): Promise<readonly string[]> => {
    const real = queue === undefined ? { table } : { table, queue };
    const { violations, trace } = await simulate(seed, real, only !== undefined);
    if (only !== undefined) process.stdout.write(`${trace.join("\n")}\n`);
    const wrong = [...violations, ...table.wrong()];
    const replay = `SLUICE_SIM_DYNAMODB_SEED=${seed} npx vitest run test/contract/dynamodb-simulator.test.ts`;
    return wrong.length === 0 ? [] : [...wrong, `replay it with its trace: ${replay}`];
  };

  test.each(sqs === undefined ? seeds : others)(
    "the work queue keeps its guarantees on DynamoDB under every fault of its own and of the connection: seed %i",
    { timeout },
    async (seed) => {
      await using table = await simulatedDynamodb(of, wireFaults(dynamodbFaults, seed).of);
      expect(await play(seed, table)).toEqual([]);
      expect(table.saves()).toBeGreaterThan(0);
    },
  );

  test.skipIf(sqs === undefined).each([first])(
    "the work queue keeps its guarantees on DynamoDB and SQS together (SLUICE_REAL_SQS names one): seed %i",
    { timeout },
    async (seed = 1) => {
      await using table = await simulatedDynamodb(of, wireFaults(dynamodbFaults, seed).of);
      await using queue = await simulatedSqs(sqs ?? { region: "" }, wireFaults(sqsFaults, seed).of);
      expect(await play(seed, table, queue)).toEqual([]);
    },
  );
});
