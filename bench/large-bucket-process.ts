import { SourceStatus } from "../lib/api/source.ts";
import { bucketFlow } from "../lib/flows/bucket/bucket-flow.ts";
import { sourceWorld } from "../test/unit/flows/source-world.ts";
import { watchUse } from "./process-memory.ts";

/** Runs a Bucket of the server in its first argument, lets one object change, and prints time and peak of memory of the next run. */
const { signal } = new AbortController();
const [, , endpoint = "", ignore = ""] = process.argv;
const world = await sourceWorld(undefined, "Bucket");
world.apply({
  apiVersion: "source.toolkit.fluxcd.io/v1",
  kind: "Bucket",
  metadata: { name: "app", namespace: "apps" },
  spec: { interval: "1h", timeout: "15m", bucketName: "things", endpoint, insecure: true, ignore },
});
const run = async (): Promise<string> => {
  await world.run("app", signal, (deps) => bucketFlow({ ...deps, logins: {} }));
  const status = SourceStatus.parse(world.get("app")["status"]);
  if (status.artifact === undefined) throw new Error(JSON.stringify(status.conditions));
  return status.artifact.revision;
};
const first = await run();
await fetch(`http://${endpoint}/change`, { method: "POST" });
world.sent.length = 0;
const use = watchUse(process.pid);
const begun = performance.now();
const second = await run();
const ms = performance.now() - begun;
if (first === second) throw new Error("the changed object made no new revision");
process.stdout.write(JSON.stringify({ ms, megabytes: use().peakMb }));
await world.close();
process.exit();
