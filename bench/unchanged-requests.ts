import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../lib/process/system-clock.ts";
import { mayHaveOwnControlPlane, ownControlPlane } from "../test/real/own-control-plane.ts";
import { type AuditLog, auditLog } from "./audit-log.ts";
import { type Figure, figure } from "./figure.ts";
import { type SluiceUnderTest, sluiceUnderTest } from "./sluice-under-test.ts";

const example = join(import.meta.dirname, "../examples/oddy-test/manifests");
const name = "unchanged";
const rounds = 5;
/** Longer than a look at the gate counts, so that each run pays for its own. */
const interval = "8s";
/** Time for the effects of a run. */
const restMs = 1_500;
/** The clients that act as the user. */
const users = ["bench", "flux"];

/**
 * On a control plane of its own, the requests of a run of a Kustomization of four objects of four kinds that changes nothing: at its
 * interval, and when it is asked for. From the audit log of the API server, watches apart. Each request goes to stderr.
 */
export async function unchangedRequests(): Promise<readonly Figure[]> {
  if (!mayHaveOwnControlPlane()) {
    process.stderr.write(
      "unchangedRequests is left out: SLUICE_REAL_KUBECONFIG names no control plane (npm run real -- up)\n",
    );
    return [];
  }
  await using plane = await ownControlPlane();
  await using sluice = await sluiceUnderTest(["--kubeconfig", plane.kubeconfig]);
  const audit = auditLog(plane.audit);
  await sluice.follow(name, { interval });
  const { revision } = await sluice.push(name, await exampleFiles());
  await sluice.ready(name, revision);
  const atInterval: number[] = [];
  const onRequest: number[] = [];
  for (let round = 0; round < rounds; round++) {
    onRequest.push(await counted("asked for", audit, () => sluice.reconcile(name)));
    atInterval.push(await counted("at its interval", audit, () => nextRun(sluice)));
  }
  return [
    figure("four objects, unchanged, at its interval", "requests", atInterval, { of: "median", atMost: 5 }),
    figure("four objects, unchanged, asked for", "requests", onRequest),
  ];
}

async function exampleFiles(): Promise<Readonly<Record<string, string>>> {
  const files = (await readdir(example)).filter((file) => file !== "kustomization.yaml");
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file, await readFile(join(example, file), "utf8")] as const)),
  );
}

async function nextRun(sluice: SluiceUnderTest): Promise<void> {
  const ends = sluice.process.ends.filter(({ key }) => key.kind === "Kustomization" && key.name === name).length;
  await sluice.end(name, ends + 1);
}

/** How many requests there are from now to a moment after the end of this run. */
async function counted(what: string, audit: AuditLog, run: () => Promise<unknown>): Promise<number> {
  const start = await audit.end();
  await run();
  await systemClock.sleep(restMs, AbortSignal.timeout(2 * restMs));
  const requests = await audit.requests(start, "sluice", users);
  process.stderr.write(`${what}:\n${requests.map((request) => `  ${request}\n`).join("")}`);
  return requests.length;
}
