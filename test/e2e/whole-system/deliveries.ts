import type { Random } from "../../unit/queue/simulator/random.ts";
import type { Deliver } from "./functions.ts";

/** Every batch comes to all environments at the same time. */
export const toAllAtOnce: Deliver = async (event, own, all) => {
  const others = all.filter((invoke) => invoke !== own).map((invoke) => invoke(event));
  const [result] = await Promise.all([own(event), ...others]);
  return result;
};

const kept = 20;

/** Every message comes twice, in another order, and with some that were handled long ago. */
export function doubledAndReordered(random: Random): Deliver {
  const old: object[] = [];
  return ({ Records }, own) => {
    const late = old.filter(() => random.chance(0.2));
    old.push(...Records);
    old.splice(0, old.length - kept);
    const ordered = [...Records, ...Records, ...late].map((record) => ({ record, at: random.next() }));
    return own({ Records: ordered.toSorted((a, b) => a.at - b.at).map(({ record }) => record) });
  };
}
