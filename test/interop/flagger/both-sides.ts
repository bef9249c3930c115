import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { type AuditLog, auditLog } from "../../../bench/audit-log.ts";
import { CanaryStatus } from "../../../lib/api/canary.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { type SluiceProcess, startSluiceProcess } from "../../../local/sluice-process.ts";
import { deadlineMs } from "../../deadline.ts";
import { mayHaveOwnControlPlane, ownControlPlane } from "../../real/own-control-plane.ts";
import { builtFlagger, installFlaggerDefinitions, type RunningFlagger, startFlagger } from "./start-flagger.ts";

const built = await builtFlagger();
const { signal } = new AbortController();
const needs = "needs SLUICE_FLAGGER, SLUICE_FLAGGER_CRDS and SLUICE_REAL_KUBECONFIG: test/interop/flagger/README.md";

/** Why a story with both sides cannot be told here; undefined if it can. */
export const missing = built === undefined || !mayHaveOwnControlPlane() ? needs : undefined;
export const namespace = "default";
export const waiting = { timeout: deadlineMs, interval: 200 };

/** A control plane of its own, on which Flagger and Sluice release the same Canaries in turn. */
export interface BothSides {
  readonly cluster: Cluster;
  readonly audit: AuditLog;
  /** All that Flagger has logged since the first start. */
  readonly flaggerLog: () => Promise<string>;
  readonly flagger: () => Promise<RunningFlagger>;
  readonly sluice: () => Promise<SluiceProcess>;
  apply(manifest: Manifest): Promise<unknown>;
  get(group: string, version: string, kind: string, name: string): Promise<LiveObject>;
  /** Of this Canary. */
  status(name: string): Promise<CanaryStatus>;
  /** The status of this Canary, and all that a run changes. */
  present(canary: string, ...kinds: readonly Kind[]): Promise<{ status: CanaryStatus; objects: readonly object[] }>;
}

type Kind = Readonly<Record<"group" | "version" | "kind", string>>;

/** @param open disposes of everything */
export async function bothSides(open: AsyncDisposableStack): Promise<BothSides> {
  if (built === undefined) throw new Error(needs);
  const plane = open.use(await ownControlPlane());
  const folder = await mkdtemp(join(tmpdir(), "sluice-flagger-"));
  open.defer(() => rm(folder, { recursive: true, force: true }));
  const config = await readKubeconfig({ file: plane.adminKubeconfig, env: {}, homeDir: homedir() });
  const cluster = connect(config, { clock: systemClock, env: {} });
  open.defer(() => cluster.close());
  await installFlaggerDefinitions(built.crds, cluster, signal);
  const log = join(folder, "flagger.log");
  await writeFile(log, "");
  const get: BothSides["get"] = async (group, version, kind, name) => {
    const live = await cluster.get({ group, version, kind, namespace, name }, signal);
    if (live === undefined) throw new Error(`${kind}/${name} is gone`);
    return live;
  };
  const status = async (name: string): Promise<CanaryStatus> =>
    CanaryStatus.parse((await get("flagger.app", "v1beta1", "Canary", name))["status"]);
  return {
    ...{ cluster, audit: auditLog(plane.audit), get, status },
    flaggerLog: () => readFile(log, "utf8"),
    flagger: () => startFlagger({ ...built, kubeconfig: plane.adminKubeconfig, namespace, log, flags }),
    sluice: () => startSluiceProcess(["--state", join(folder, "state"), "--kubeconfig", plane.kubeconfig], signal),
    apply: (manifest) => cluster.apply(manifest, { manager: "kubectl", force: true }, signal),
    present: async (canary, ...kinds) => {
      const lists = kinds.map((kind) => cluster.list({ ...kind, namespace }, signal));
      return { status: await status(canary), objects: (await Promise.all(lists)).flat().map(withoutVersions) };
    },
  };
}

/** The Canaries name their provider. */
const flags = ["-mesh-provider=kubernetes"];

/** Flagger reads a Canary when a look begins, so the first look is over when the second one begins. */
export async function flaggerHasLooked(canary: string, since: number, { audit }: BothSides): Promise<void> {
  await vi.waitUntil(async () => {
    const requests = await audit.requests(since, "admin", []);
    return requests.filter((one) => one.startsWith("get ") && one.includes(`/canaries/${canary}`)).length >= 2;
  }, waiting);
}

/** Only the cluster's own controllers write statuses, and the annotation that is left out. */
function withoutVersions({ metadata, status: _status, ...rest }: LiveObject): object {
  const { managedFields: _fields, resourceVersion: _version, annotations = {}, ...others } = metadata;
  const { "deployment.kubernetes.io/revision": _revision, ...kept } = annotations;
  return { ...rest, metadata: { ...others, annotations: kept } };
}
