import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../lib/process/system-clock.ts";
import { type Figure, figure } from "./figure.ts";
import { sluiceUnderTest } from "./sluice-under-test.ts";

/** Node compiles frequently used code while it runs: a process that has just started takes half as long again. */
const freshRounds = 10;
const rounds = 30;
/** Until the embedded cluster has made the Pods and counted them: it has the same processor. */
const restMs = 400;
const manifests = join(import.meta.dirname, "../examples/oddy-test/manifests");

/** The field report's Kustomization of four objects: first apply, unchanged, and from the push to the first write. */
export async function fourObjects(): Promise<readonly Figure[]> {
  await using sluice = await sluiceUnderTest();
  const first: number[] = [];
  const freshFirst: number[] = [];
  const unchanged: number[] = [];
  const freshUnchanged: number[] = [];
  const lists: number[] = [];
  const toFirstWrite: number[] = [];
  for (let round = 0; round < freshRounds + rounds; round++) {
    const isFresh = round < freshRounds;
    const name = `four-${round}`;
    await sluice.follow(name);
    // Before the push both have run, found nothing and subscribed.
    await sluice.end(name, 1);
    const { revision, at } = await sluice.push(name, await filesNamed(`bench-${round}`));
    await sluice.ready(name, revision);
    const applied = await sluice.applied(name);
    const write = sluice.process.requests.find(
      (request) => request.at >= at && request.verb === "apply" && !request.dryRun,
    );
    await systemClock.sleep(restMs, AbortSignal.timeout(2 * restMs));
    const seen = sluice.process.requests.length;
    const again = await sluice.reconcile(name);
    (isFresh ? freshFirst : first).push(applied);
    (isFresh ? freshUnchanged : unchanged).push(again);
    toFirstWrite.push((write?.at ?? Number.NaN) - at);
    lists.push(sluice.process.requests.slice(seen).filter(({ verb }) => verb === "list").length);
  }
  return [
    figure("four objects, first apply, handler", "ms", first, { of: "median", atMost: 60 }),
    figure("four objects, unchanged, handler", "ms", unchanged, { of: "median", atMost: 15 }),
    figure("four objects, unchanged, lists (one per kind)", "requests", lists, { of: "max", atMost: 4 }),
    figure(`four objects, first apply, handler, of the process's first ${freshRounds}`, "ms", freshFirst),
    figure(`four objects, unchanged, handler, of the process's first ${freshRounds}`, "ms", freshUnchanged),
    figure("push to first write", "ms", toFirstWrite, { of: "p95", atMost: 150 }),
  ];
}

async function filesNamed(prefix: string): Promise<Record<string, string>> {
  const files = ["deployment.yaml", "hpa.yaml", "pdb.yaml", "service.yaml"];
  const texts = await Promise.all(files.map((file) => readFile(join(manifests, file), "utf8")));
  return Object.fromEntries(files.map((file, index) => [file, (texts[index] ?? "").replaceAll("oddy-test", prefix)]));
}
