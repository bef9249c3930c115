import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import type { Http } from "../../../lib/core/ports/http.ts";
import { systemClock } from "../../../lib/core/system-clock.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { startLocal } from "../../../local/start-local.ts";
import { silentLog } from "../../doubles/silent-log.ts";

/** A Sluice that a file of tests has for itself, and how to reach it. */
export interface OwnSluice {
  readonly cluster: Cluster;
  readonly http: Http;
  /** Its registry, HOST:PORT. */
  readonly registry: string;
  /** For what is pushed; removed at the end. */
  readonly folder: string;
}

/** Starts one before the tests of the file that calls this, and stops it after them. */
export function ownSluice(signal: AbortSignal): () => OwnSluice {
  const running = new AsyncDisposableStack();
  let own: OwnSluice | undefined;
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-recorded-"));
    running.defer(() => rm(folder, { recursive: true, force: true }));
    const http = httpClient({ network: homeNetwork });
    running.defer(() => http.close());
    const options = { state: join(folder, "state"), env: {}, log: silentLog };
    const sluice = await startLocal(options, signal);
    running.defer(() => sluice.close());
    const config = await readKubeconfig({ file: sluice.kubeconfig, env: {}, homeDir: homedir() });
    const cluster = connect(config, { clock: systemClock, env: {} });
    running.defer(() => cluster.close());
    own = { cluster, http, registry: sluice.registry, folder };
  });
  afterAll(() => running.disposeAsync());
  return () => {
    if (own === undefined) throw new Error("asked for before the tests began");
    return own;
  };
}
