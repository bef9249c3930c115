import { describe, expect, test } from "vitest";
import { digestOf } from "../../../lib/core/digest.ts";
import { Outage } from "../../../lib/core/outage.ts";
import { LeaseLost } from "../../../lib/core/ports/fence.ts";
import { patientState, type StatePorts } from "../../../lib/flows/patient-state.ts";
import { keyOf, never } from "../../contract/state-back-end.ts";

const key = keyOf("web");
const fence = { key, token: 1 };
const owner = { uid: "uid", clusterUid: "cluster" };
const digest = digestOf("artifact");

/** A state each of whose calls fails like this. */
function failing(error: Error): StatePorts {
  const fail = (): Promise<never> => Promise.reject(error);
  return {
    edges: { listen: fail, listeners: fail },
    inventories: { load: fail, savedUnder: fail, save: fail, remove: fail },
    ledger: { claim: fail, release: fail, claims: fail },
    records: { record: fail, retain: fail, recorded: fail },
    requests: { request: fail },
  };
}

const calls: readonly {
  readonly call: string;
  readonly make: (state: StatePorts, signal: AbortSignal) => Promise<unknown>;
}[] = [
  { call: "edges.listen", make: ({ edges }, signal) => edges.listen(["x"], fence, signal) },
  { call: "edges.listeners", make: ({ edges }, signal) => edges.listeners("x", signal) },
  { call: "inventories.load", make: ({ inventories }, signal) => inventories.load(owner, fence, signal) },
  { call: "inventories.savedUnder", make: ({ inventories }, signal) => inventories.savedUnder(owner, fence, signal) },
  { call: "inventories.save", make: ({ inventories }, signal) => inventories.save(owner, [], fence, signal) },
  { call: "inventories.remove", make: ({ inventories }, signal) => inventories.remove(owner, fence, signal) },
  { call: "ledger.claim", make: ({ ledger }, signal) => ledger.claim("cluster", [], fence, signal) },
  { call: "ledger.release", make: ({ ledger }, signal) => ledger.release("cluster", "uid", [], fence, signal) },
  { call: "ledger.claims", make: ({ ledger }, signal) => ledger.claims("cluster", [], signal) },
  { call: "records.record", make: ({ records }, signal) => records.record(key, "uid", digest, fence, signal) },
  { call: "records.retain", make: ({ records }, signal) => records.retain(key, "uid", [], fence, signal) },
  { call: "records.recorded", make: ({ records }, signal) => records.recorded(key, "uid", digest, signal) },
  { call: "requests.request", make: ({ requests }, signal) => requests.request(key, "test", signal) },
];

describe("what a state throws at a flow", () => {
  test.each(calls)("$call: that it does not answer is an outage, which says what was to be done", async ({ make }) => {
    const throttled = new Error("AWS throttles it");
    const error: unknown = await make(patientState(failing(throttled)), never).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Outage);
    expect(error).toMatchObject({ reason: "ReconciliationFailed", cause: throttled });
    expect(String(error)).toMatch(/(state is out of reach|wake-up was not sent): AWS throttles it$/);
  });

  test.each(calls)("$call: a lost lease, the end of a run and a mistake in a program are none", async ({ make }) => {
    for (const error of [new LeaseLost("another holds it"), new TypeError("a bug")]) {
      await expect(make(patientState(failing(error)), never)).rejects.toBe(error);
    }
    const ended = AbortSignal.abort(new Error("time is up"));
    await expect(make(patientState(failing(new Error("no answer"))), ended)).rejects.toThrow("time is up");
  });

  test.each(calls)("$call: an answer is handed on with what it was asked for", async ({ call, make }) => {
    const asked: unknown[] = [];
    const answering = failing(new Error("unused"));
    const [port = "", method = ""] = call.split(".");
    const state: StatePorts = {
      ...answering,
      [port]: { [method]: async (...args: readonly unknown[]) => void asked.push(args.at(-1)) },
    };
    await make(patientState(state), never);
    expect(asked).toEqual([never]);
  });
});
