import { describe, expect, test } from "vitest";
import { Outage } from "../../lib/core/ports/outage.ts";
import { type StatePorts, stateErrorsAsOutages } from "../../lib/flows/kinds/outages.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { reconcileRequests } from "../../lib/queue/request-reconcile.ts";
import { rules } from "../../lib/queue/rules.ts";
import { openStores } from "../../local/state/open-stores.ts";
import { openStateDatabase } from "../../local/state/state-database.ts";
import { type DynamodbFault, faultyDynamodb } from "../doubles/faulty-dynamodb.ts";
import { silentLog } from "../doubles/silent-log.ts";
import { newDynamodb } from "./dynamodb-back-end.ts";
import { realAws } from "./real-aws.ts";
import { keyOf, leased, never, type StateBackEnd } from "./state-back-end.ts";
import { stateCalls } from "./state-calls.ts";

const connection = realAws("DYNAMODB");

/** What every call to this state throws, as a flow sees it, all of them made at once. */
async function thrownBy(
  stores: Omit<StatePorts, "requests"> & Pick<StateBackEnd, "items">,
): Promise<readonly unknown[]> {
  const queue = { items: stores.items, wakeUps: { send: async () => {} }, clock: systemClock, log: silentLog, rules };
  const state = stateErrorsAsOutages({ ...stores, requests: reconcileRequests(queue) });
  return Promise.all(stateCalls.map(({ make }) => make(state, never).catch((error: unknown) => error)));
}

/** The calls that threw something else, or nothing. */
function withoutOutage(thrown: readonly unknown[]): readonly string[] {
  return stateCalls.flatMap(({ call }, index) => (thrown[index] instanceof Outage ? [] : [call]));
}

test("a state file that cannot be read or written counts as an outage for every call of a flow", async () => {
  const database = openStateDatabase(":memory:");
  const stores = openStores(database, "/unused", systemClock);
  await leased(stores, keyOf("web"));
  database.close();
  expect(withoutOutage(await thrownBy(stores))).toEqual([]);
});

describe.skipIf(connection === undefined)("where SLUICE_REAL_DYNAMODB names one (npm run real -- up)", () => {
  test.each(["throttled", "broken", "dropped"] as const)(
    "a table that is %s counts as an outage for every call of a flow, and not once it is back",
    async (kind) => {
      let fault: DynamodbFault | undefined;
      await using wire = await faultyDynamodb(connection?.endpoint ?? "", () => fault);
      const stores = await newDynamodb(connection ?? { region: "" }, { endpoint: wire.url });
      await leased(stores, keyOf("web"));
      fault = kind;
      expect(withoutOutage(await thrownBy(stores))).toEqual([]);
      fault = undefined;
      const thrown = await thrownBy(stores);
      expect(thrown.filter((each) => each instanceof Error)).toEqual([]);
      await stores.close();
    },
  );
});
