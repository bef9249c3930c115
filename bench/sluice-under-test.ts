import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findCondition } from "../lib/api/condition.ts";
import { parseKustomization } from "../lib/api/kustomization.ts";
import type { JsonObject } from "../lib/core/json.ts";
import { homeNetwork } from "../lib/core/network/network-policy.ts";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import { httpClient } from "../lib/http/http-client.ts";
import { connect } from "../lib/kube/connect.ts";
import { readKubeconfig } from "../lib/kube/kubeconfig.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { pushArtifact } from "../lib/sources/oci/push-artifact.ts";
import { registryClients } from "../lib/sources/oci/registry-client.ts";
import { type SluiceProcess, startSluiceProcess } from "../local/sluice-process.ts";

const namespace = "default";
const kustomizations = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization", namespace };

/** A `sluice local` in a process of its own, and the actions of a user. */
export interface SluiceUnderTest {
  readonly process: SluiceProcess;
  readonly cluster: Cluster;
  /** Pushes these files under tag v1 of a repository; answers the revision and when the push was over. */
  push(repository: string, files: Readonly<Record<string, string>>): Promise<{ revision: string; at: number }>;
  /** Applies an OCIRepository and a Kustomization of one name. */
  follow(name: string, spec?: JsonObject): Promise<void>;
  /** Waits until the log has the end of a run from `at` on that applied a whole revision: the log is later than the cluster. */
  logged(name: string, at: number): Promise<void>;
  /** Waits until Ready names this revision. */
  ready(name: string, revision: string): Promise<void>;
  /** Asks for a run as `flux reconcile` does and waits for its end; answers its handler time. */
  reconcile(name: string): Promise<number>;
  /** Waits for the first run of this Kustomization that applied a whole revision; answers its handler time. */
  applied(name: string): Promise<number>;
  /** Waits for the n-th end of a run of this Kustomization, counted from 1. */
  end(name: string, count: number): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function sluiceUnderTest(args: readonly string[] = []): Promise<SluiceUnderTest> {
  const signal = AbortSignal.timeout(300_000);
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "sluice-bench-"));
  opening.defer(() => rm(folder, { recursive: true, force: true }));
  const process = await startSluiceProcess(["--state", join(folder, "state"), ...args], signal);
  opening.defer(() => process.kill());
  const cluster = connect(await readKubeconfig({ file: process.ready.kubeconfig, env: {}, homeDir: folder }), {
    clock: systemClock,
    env: {},
  });
  opening.defer(() => cluster.close());
  const http = httpClient({ network: homeNetwork });
  opening.defer(() => http.close());
  const registry = registryClients(http, systemClock);
  const apply = (apiVersion: string, kind: string, name: string, spec: JsonObject) =>
    cluster.apply({ apiVersion, kind, metadata: { name, namespace }, spec }, { manager: "bench", force: true }, signal);
  const until = async (what: string, holds: () => Promise<boolean> | boolean) => {
    const deadline = Date.now() + 60_000;
    while (!(await holds())) {
      if (Date.now() > deadline) throw new Error(`waited a minute for ${what}`);
      await systemClock.sleep(3, signal);
    }
  };
  const endsOf = (name: string) => process.ends.filter(({ key }) => key.kind === "Kustomization" && key.name === name);
  const end = async (name: string, count: number) => {
    await until(`run ${count} of ${name}`, () => endsOf(name).length >= count);
    return endsOf(name)[count - 1]?.durationMs ?? Number.NaN;
  };
  const open = opening.move();
  return {
    process,
    cluster,
    end,
    applied: async (name) => {
      const appliedOf = () => endsOf(name).find(({ outcome }) => outcome === "applied");
      await until(`an apply of ${name}`, () => appliedOf() !== undefined);
      return appliedOf()?.durationMs ?? Number.NaN;
    },
    logged: (name, since) => {
      const isLogged = () => endsOf(name).some(({ at, outcome }) => at >= since && outcome === "applied");
      return until(`the end of a run of ${name}`, isLogged);
    },
    push: async (repository, files) => {
      const path = await mkdtemp(join(folder, "push-"));
      await Promise.all(Object.entries(files).map(([file, text]) => writeFile(join(path, file), text)));
      const url = `oci://${process.ready.registry}/${repository}:v1`;
      const artifact = { url, path, source: "https://example.com/bench", revision: "main@sha1:bench" };
      const access = { insecure: true, userAgent: "sluice-bench" };
      const { digest } = await pushArtifact(artifact, ({ host }) => registry({ host, ...access }), signal);
      return { revision: `v1@${digest}`, at: Date.now() };
    },
    follow: async (name, spec = {}) => {
      const url = `oci://${process.ready.registry}/${name}`;
      await apply("source.toolkit.fluxcd.io/v1", "OCIRepository", name, {
        interval: "1h",
        url,
        insecure: true,
        ref: { tag: "v1" },
      });
      const sourceRef = { kind: "OCIRepository", name };
      await apply("kustomize.toolkit.fluxcd.io/v1", "Kustomization", name, {
        interval: "1h",
        prune: true,
        sourceRef,
        ...spec,
      });
    },
    ready: (name, revision) =>
      until(`${name} at ${revision}`, async () => {
        const live = await cluster.get({ ...kustomizations, name }, signal);
        const ready = live && findCondition(parseKustomization(live).status.conditions ?? [], "Ready");
        return ready?.status === "True" && ready.message.endsWith(revision);
      }),
    reconcile: async (name) => {
      const count = endsOf(name).length;
      const body = { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": `${performance.now()}` } } };
      await cluster.patch({ ...kustomizations, name }, { type: "merge", body }, { manager: "flux" }, signal);
      return end(name, count + 1);
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** A ConfigMap as a line of JSON, which is YAML too. */
export function configMap(name: string, value: string): string {
  return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { value } });
}
