import { afterAll, beforeAll, describe } from "vitest";
import { installCrds } from "../../../lib/definitions/install-crds.ts";
import { type ConnectedCluster, connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { interruptedStories, kustomizationStories, serverStories, wholeStories } from "./stories.ts";
import { world } from "./world.ts";

const { signal } = new AbortController();
/** The deep check plays all of them. */
const stories = process.env["SLUICE_REAL_STORIES"] === "all" ? [...wholeStories, ...interruptedStories] : serverStories;
const file = process.env["SLUICE_REAL_KUBECONFIG"];
let cluster: ConnectedCluster;
const prefix = `flow-${Date.now()}-`;
let worlds = 0;

describe.skipIf(file === undefined)("a real control plane (set SLUICE_REAL_KUBECONFIG)", () => {
  beforeAll(async () => {
    cluster = connect(await readKubeconfig({ file: file ?? "", env: {}, homeDir: "/" }), {
      clock: systemClock,
      env: {},
    });
    await installCrds(cluster, { clock: systemClock, log: silentLog }, signal);
  });
  afterAll(() => cluster.close());

  const newWorld = () => world(cluster, `${prefix}${worlds++}`, (user) => cluster.as(user));
  kustomizationStories("a real control plane", stories, newWorld);
});
