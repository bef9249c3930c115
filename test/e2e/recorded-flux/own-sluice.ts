import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { defaultSettings, type Settings } from "../../../functions/settings/settings.ts";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { startLocal } from "../../../local/start-local.ts";
import { readStateDatabase } from "../../../local/state/state-database.ts";
import { inlineKubeconfig, userFront } from "../../doubles/cluster-fronts.ts";
import { pem } from "../../doubles/pem.ts";
import { s3Server } from "../../doubles/s3-server.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { tlsFront } from "../../doubles/tls-front.ts";
import { isAtRest } from "./at-rest.ts";
import { gitHost } from "./git-host.ts";
import { helmHost } from "./helm-host.ts";
import type { PassingTime } from "./passing-time.ts";
import type { Stage } from "./scene.ts";

/**
 * No retry falls between two actions of a step, where it would do in two runs what Flux did in one: each step writes or requests
 * what it waits for.
 */
const settings: Settings = { ...defaultSettings, "min-retry-delay": "10m" };

export type OwnStage = Stage & Required<Pick<Stage, "isAtRest">>;

/**
 * A Sluice that a file of tests has for itself: starts one before the tests of the file that calls this, and stops it after them.
 *
 * @param time by which it measures timeouts; by default the machine's
 */
export function ownSluice(
  signal: AbortSignal,
  time?: Pick<PassingTime, "clock"> & Partial<Pick<PassingTime, "pass">>,
): () => OwnStage {
  const running = new AsyncDisposableStack();
  let own: OwnStage | undefined;
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-recorded-"));
    running.defer(() => rm(folder, { recursive: true, force: true }));
    const http = httpClient({ network: homeNetwork });
    running.defer(() => http.close());
    const base = { state: join(folder, "state"), env: {}, log: silentLog, settings };
    const options = { ...base, ...(time && { clock: time.clock }) };
    const sluice = await startLocal(options, signal);
    running.defer(() => sluice.close());
    const database = readStateDatabase(join(sluice.state, "state.db"));
    running.defer(() => database.close());
    const config = await readKubeconfig({ file: sluice.kubeconfig, env: {}, homeDir: homedir() });
    const cluster = connect(config, { clock: systemClock, env: {} });
    running.defer(() => cluster.close());
    const secure = running.use(await tlsFront(sluice.registry));
    const [authority, otherAuthority] = await Promise.all([pem("server.crt"), pem("amazon.crt")]);
    const secureRegistry = { address: secure.address, authority, otherAuthority };
    const git = running.use(await gitHost());
    const helm = running.use(await helmHost());
    const s3 = running.use(await s3Server());
    // Every login of the recordings.
    s3.accessKeyId = "golden";
    const kubeconfigOf = async (namespace: string, account: string): Promise<string> => {
      const front = running.use(await userFront(config, `system:serviceaccount:${namespace}:${account}`));
      const server = new URL(`http://127.0.0.1:${front.port}`);
      return inlineKubeconfig({ ...config, server });
    };
    const pass = time?.pass;
    own = {
      ...{ cluster, http, registry: sluice.registry, secureRegistry, git, helm, s3 },
      ...{ receiver: sluice.receiver, kubeconfigOf },
      isAtRest: (namespace) => isAtRest(database, namespace),
      ...(pass && { passTimeout: () => pass() }),
    };
  });
  afterAll(() => running.disposeAsync());
  return () => {
    if (own === undefined) throw new Error("asked for before the tests began");
    return own;
  };
}
