import { expect } from "vitest";
import { deadlineMs } from "../../deadline.ts";
import { applied, configMap, followApp, type LocalWorld } from "./local-world.ts";

const objects = 60;
const patient = { timeout: deadlineMs, interval: 50 };

/**
 * Three times: pushes 60 objects, a third of them other ones, kills Sluice in the middle, and expects the next start to finish
 * it. Answers how the last one ended on SIGTERM.
 */
export async function killedInApply(world: LocalWorld, ...args: readonly string[]): Promise<number | NodeJS.Signals> {
  let local = await world.start(...args);
  let cluster = await world.cluster(local);
  await followApp(cluster, local);
  for (const round of [1, 2, 3]) {
    const names = Array.from({ length: objects }, (_, number) => `m${String(number + round * 20).padStart(3, "0")}`);
    const wanted = names.map((name) => `${name}=${round}`);
    await world.push(
      local,
      names.map((name) => configMap(name, String(round))),
    );
    // In the middle: some are there, and if the machine is quick enough all of them.
    await expect
      .poll(async () => (await applied(cluster)).some((map) => map.endsWith(`=${round}`)), patient)
      .toBe(true);
    expect(await local.end("SIGKILL")).toBe("SIGKILL");
    local = await world.start(...args);
    cluster = await world.cluster(local);
    await expect.poll(() => applied(cluster), patient).toEqual(wanted);
  }
  return local.end("SIGTERM");
}
