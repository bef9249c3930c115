import { describe, expect, test } from "vitest";
import { LeaseLost } from "../../../lib/core/ports/fence.ts";
import { Outage } from "../../../lib/core/ports/outage.ts";
import { type StatePorts, stateErrorsAsOutages } from "../../../lib/flows/kinds/outages.ts";
import { never } from "../../contract/state-back-end.ts";
import { stateCalls } from "../../contract/state-calls.ts";

/** A state each of whose calls fails like this. */
function failing(error: Error): StatePorts {
  const fail = (): Promise<never> => Promise.reject(error);
  return {
    subscriptions: { subscribe: fail, subscribers: fail, followers: fail },
    inventories: { load: fail, savedUnder: fail, clusters: fail, save: fail, remove: fail },
    ledger: { claim: fail, release: fail, claims: fail },
    records: { record: fail, retain: fail, recorded: fail },
    receivers: { save: fail, remove: fail, find: fail },
    imageTags: { put: fail, get: fail, describe: fail, remove: fail },
    requests: { request: fail },
  };
}

describe("an error of the state store", () => {
  test.each(stateCalls)("$call: no answer counts as an outage, and the message names the call", async ({ make }) => {
    const throttled = new Error("AWS throttles it");
    const error: unknown = await make(stateErrorsAsOutages(failing(throttled)), never).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Outage);
    expect(error).toMatchObject({ reason: "ReconciliationFailed", cause: throttled });
    expect(String(error)).toMatch(/(state is out of reach|wake-up was not sent): AWS throttles it$/);
  });

  test.each(stateCalls)("$call: a lost lease, an aborted run and a bug do not count as outages", async ({ make }) => {
    for (const error of [new LeaseLost("another holds it"), new TypeError("a bug")]) {
      await expect(make(stateErrorsAsOutages(failing(error)), never)).rejects.toBe(error);
    }
    const ended = AbortSignal.abort(new Error("time is up"));
    await expect(make(stateErrorsAsOutages(failing(new Error("no answer"))), ended)).rejects.toThrow("time is up");
  });

  test.each(stateCalls)("$call: arguments and result are passed through", async ({ call, make }) => {
    const asked: unknown[] = [];
    const answering = failing(new Error("unused"));
    const [port = "", method = ""] = call.split(".");
    const state: StatePorts = {
      ...answering,
      [port]: { [method]: async (...args: readonly unknown[]) => void asked.push(args.at(-1)) },
    };
    await make(stateErrorsAsOutages(state), never);
    expect(asked).toEqual([never]);
  });
});
