import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startKubernetes } from "@sluice/embedded-kubernetes";
import { expect, onTestFinished, test } from "vitest";
import { defaultSettings } from "../../../functions/settings/settings.ts";
import { runLocal } from "../../../local/run-local.ts";
import { silentLog } from "../../doubles/silent-log.ts";

/** `sluice local` until it is ready and is stopped; what it writes for people. */
async function stopped(state: string, saysWhereStateIs: boolean): Promise<string> {
  let err = "";
  const stop = new AbortController();
  const code = await runLocal(
    // Not the ports of the last start: another test may have taken them meanwhile.
    { state, settings: defaultSettings, log: silentLog, apiPort: 0, receiverPort: 0, registryPort: 0 },
    { json: false, saysWhereStateIs },
    {
      env: {},
      signal: stop.signal,
      writeOut: () => stop.abort(new Error("stopped by SIGINT")),
      writeError: (text) => {
        err += text;
      },
    },
  );
  expect(code).toBe(0);
  return err;
}

test("sluice local on a terminal prints when it is stopped where its state is and how to remove it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice local-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  expect(await stopped(folder, true)).toBe(
    `Stopping. The state stays in ${folder}: sluice local --state '${folder}' goes on from there, sluice local --state '${folder}' --reset removes it.\n`,
  );
  expect(await stopped(folder, false)).toBe("");
});

test("the ready lines list each of several clusters, with the reason of one that is not served", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-local-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const server = await startKubernetes({ stateFolder: join(folder, "near"), port: 0, log: silentLog });
  onTestFinished(() => server.close());
  const gone = await startKubernetes({ stateFolder: join(folder, "gone"), port: 0, log: silentLog });
  await gone.close();
  const [near, away] = [join(folder, "near.yaml"), join(folder, "away.yaml")];
  await writeFile(near, server.kubeconfig());
  await writeFile(away, gone.kubeconfig());
  const stop = new AbortController();
  let out = "";
  const code = await runLocal(
    {
      ...{ state: join(folder, "state"), settings: defaultSettings, log: silentLog },
      clusters: [
        { name: "near.yaml", file: near },
        { name: "away.yaml", file: away },
      ],
    },
    { json: false, saysWhereStateIs: false },
    {
      env: {},
      signal: stop.signal,
      writeOut: (text) => {
        out = text;
        stop.abort(new Error("stopped by SIGINT"));
      },
      writeError: () => undefined,
    },
  );
  expect(code).toBe(0);
  expect(out.split("\n").slice(0, 3)).toEqual([
    "Sluice is ready on 1 of 2 clusters.",
    `  cluster   near.yaml: kubectl --kubeconfig ${near}`,
    expect.stringMatching(
      /^ {2}cluster {3}away\.yaml: not served yet, tried again every 10 s: the cluster of kubeconfig \S+ cannot be used: /,
    ),
  ]);
});
