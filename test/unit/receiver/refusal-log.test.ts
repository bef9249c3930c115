import { expect, test } from "vitest";
import { quietMs } from "../../../lib/receiver/refusal-log.ts";
import { receiverWorld } from "./receiver-world.ts";

test("a delivery that is refused is a warning once a second for each Receiver, however many come", async () => {
  const world = receiverWorld();
  const warned: unknown[] = [];
  const debugged: unknown[] = [];
  world.log.warn = (message, fields) => void warned.push([message, fields?.["receiver"]]);
  world.log.debug = (message, fields) => void debugged.push([message, fields?.["receiver"]]);
  const refused = (name: string) => ["webhook refused", world.keyText(name)];
  for (const name of ["one", "two"]) await world.ready({ type: "gitlab" }, name);
  warned.length = debugged.length = 0;

  const deliver = (name: string) => world.deliver({ uri: world.path(name) });
  expect([await deliver("one"), await deliver("one"), await deliver("two")]).toEqual([400, 400, 400]);
  expect([warned, debugged]).toEqual([[refused("one"), refused("two")], [refused("one")]]);
  world.state.now += quietMs;
  await deliver("one");
  expect(warned).toEqual([refused("one"), refused("two"), refused("one")]);
});
