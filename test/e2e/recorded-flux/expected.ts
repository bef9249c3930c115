import { z } from "zod";
import { equal } from "../../../lib/core/json.ts";
import { comparable } from "./comparable.ts";
import { deliberateDifferences } from "./deliberate-differences.ts";
import type { Difference } from "./difference.ts";
import { readGiven } from "./given-recordings.ts";
import { readRecordedStep } from "./recording.ts";
import type { Scenario } from "./steps.ts";

const Recorded = z.object({ objects: z.array(z.json()), events: z.array(z.json()), managed: z.array(z.json()) });

/** What Sluice has to show after a step: what Flux showed, except for deliberate differences. */
export async function expected({ name: scenario, namespace, isGiven }: Scenario, step: string): Promise<unknown> {
  const left = await readRecordedStep(scenario, step);
  const recorded = isGiven ? readGiven(left, namespace) : Recorded.parse(left);
  const own = deliberateDifferences.filter((one) => one.scenario === scenario && one.step === step);
  return own.reduce<unknown>(
    (shown, difference) => withDifference(shown, difference, difference.at),
    comparable(recorded),
  );
}

function withDifference(value: unknown, difference: Difference, [key, ...rest]: Difference["at"]): unknown {
  if (key === undefined) {
    if (!equal(value, difference.flux)) {
      const { scenario, step, at } = difference;
      throw new Error(
        `${scenario}/${step} ${at.join(".")}: Flux has ${JSON.stringify(value)}, not what the table says`,
      );
    }
    return difference.sluice;
  }
  if (Array.isArray(value)) {
    const items: unknown[] = value;
    const changed = withDifference(items[Number(key)], difference, rest);
    return items.toSpliced(Number(key), 1, ...(changed === undefined ? [] : [changed]));
  }
  const fields = z.record(z.string(), z.unknown()).parse(value);
  const { [key]: before, ...others } = fields;
  const changed = withDifference(before, difference, rest);
  return changed === undefined ? others : { ...others, [key]: changed };
}
