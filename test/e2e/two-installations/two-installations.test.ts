import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startKubernetes } from "@sluice/embedded-kubernetes";
import { expect, test } from "vitest";
import { silentLog } from "../../doubles/silent-log.ts";
import { localWorld } from "../local/local-world.ts";
import { ownerOf, sluice, twoInstallations } from "./two-installations.ts";

test("two installations on one cluster: the second is refused and changes nothing, take-over moves it, the first stops and says so", async () => {
  await using ending = new AsyncDisposableStack();
  const first = ending.use(await localWorld());
  const second = ending.use(await localWorld());
  const server = await startKubernetes({
    stateFolder: join(first.folder, "api"),
    port: 0,
    controllers: true,
    log: silentLog,
  });
  ending.defer(() => server.close());
  const kubeconfig = join(first.folder, "kubeconfig");
  await writeFile(kubeconfig, server.kubeconfig());
  await expect(twoInstallations(first, second, kubeconfig)).resolves.toBe(undefined);
});

test("the embedded cluster belongs to its state folder, which becomes its owner again at each start", async () => {
  await using world = await localWorld();
  const local = await world.start();
  const own = await ownerOf(await world.cluster(local));
  expect(own.where).toContain(world.state);
  const given = await sluice("take-over", "--installation", "another", "--kubeconfig", local.kubeconfig);
  expect(given.code).toBe(0);
  expect((await ownerOf(await world.cluster(local))).installation).toBe("another");
  expect(await local.end("SIGTERM")).toBe(0);
  const again = await world.start();
  expect(await ownerOf(await world.cluster(again))).toEqual(own);
  expect(await again.end("SIGTERM")).toBe(0);
});
