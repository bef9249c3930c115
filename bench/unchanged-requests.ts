import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ownerObjectRef } from "../lib/gate/owner-object.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { mayHaveOwnControlPlane, ownControlPlane } from "../test/real/own-control-plane.ts";
import { type AuditLog, auditLog } from "./audit-log.ts";
import { type Figure, figure } from "./figure.ts";
import { type SluiceUnderTest, sluiceUnderTest } from "./sluice-under-test.ts";

const example = join(import.meta.dirname, "../examples/oddy-test/manifests");
const name = "unchanged";
const rounds = 5;
/** Longer than a look at the owner object counts, so that each run pays for its own. */
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
  const atInterval: Counted[] = [];
  const onRequest: Counted[] = [];
  for (let round = 0; round < rounds; round++) {
    onRequest.push(await counted("asked for", audit, () => sluice.reconcile(name)));
    atInterval.push(await counted("at its interval", audit, () => nextRun(sluice)));
  }
  return [
    ...figures("four objects, unchanged, at its interval", atInterval, 5),
    ...figures("four objects, unchanged, asked for", onRequest, 8),
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

interface Counted {
  readonly own: number;
  /** Of the owner object: one in 5 s, for all runs of the process. */
  readonly looks: number;
}

/** The requests from now to a moment after the end of this run. */
async function counted(what: string, audit: AuditLog, run: () => Promise<unknown>): Promise<Counted> {
  const start = await audit.end();
  await run();
  await systemClock.sleep(restMs, AbortSignal.timeout(2 * restMs));
  const requests = await audit.requests(start, "sluice", users);
  process.stderr.write(`${what}:\n${requests.map((request) => `  ${request}\n`).join("")}`);
  const looks = requests.filter((request) => request.endsWith(`/configmaps/${ownerObjectRef.name}`)).length;
  return { own: requests.length - looks, looks };
}

function figures(what: string, samples: readonly Counted[], atMost: number): readonly Figure[] {
  const own = samples.map((sample) => sample.own);
  const looks = samples.map((sample) => sample.looks);
  return [
    figure(what, "requests", own, { of: "median", atMost }),
    figure(`${what}, looks at the owner of the cluster`, "requests", looks, { of: "max", atMost: 1 }),
  ];
}
