import { mkdtemp, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { defaultSettings } from "../../../functions/settings/settings.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { startLocal } from "../../../local/start-local.ts";
import { embeddedCluster } from "../../doubles/embedded-cluster.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { mayHaveOwnControlPlane, ownControlPlane } from "../../real/own-control-plane.ts";
import { startWholeFlux } from "../fleet/start-whole-flux.ts";
import { applyTo, begin, type Names, removeFrom, request, type Scenario, settleBoth, type Side } from "./play-both.ts";
import { bucketScenarios } from "./scenarios/buckets.ts";
import { gitRepositories } from "./scenarios/git-repositories.ts";
import { helmCharts } from "./scenarios/helm-charts.ts";
import { helmRepositories } from "./scenarios/helm-repositories.ts";
import { ociRepositories } from "./scenarios/oci-repositories.ts";
import { sourceHosts } from "./source-hosts.ts";

const { signal } = new AbortController();
const [words = "", out = "/tmp/sources.json", mode = "both"] = process.argv.slice(2);
await using open = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), "sluice-sources-"));
const hosts = await sourceHosts(folder, open);
const settings = { ...defaultSettings, "min-retry-delay": "10m" as const };
const sluice = await startLocal({ state: join(folder, "state"), env: {}, log: silentLog, settings }, signal);
open.defer(() => sluice.close());
const clusterOf = async (file: string) => {
  const one = connect(await readKubeconfig({ file, env: {}, homeDir: homedir() }), { clock: systemClock, env: {} });
  open.defer(() => one.close());
  return one;
};
const bySluice: Side = { name: "sluice", cluster: await clusterOf(sluice.kubeconfig) };
let byFlux = bySluice;
if (mode === "both") {
  let kubeconfig: string;
  if (mayHaveOwnControlPlane()) kubeconfig = open.use(await ownControlPlane()).adminKubeconfig;
  else kubeconfig = open.use(await embeddedCluster({ definitions: false })).kubeconfig;
  const cluster = await clusterOf(kubeconfig);
  const controllers = process.env["SLUICE_FLUX_ALL_CONTROLLERS"] ?? "";
  const crds = ["/root/go/pkg/mod/github.com/fluxcd/source-controller@v1.9.1/config/crd/bases"];
  const flags = { "source-controller": ["--concurrent=4"] };
  open.use(await startWholeFlux({ controllers, crds, kubeconfig, folder, cluster, flags }, signal));
  byFlux = { name: "flux", cluster };
}
const all = [...helmRepositories, ...helmCharts, ...gitRepositories, ...ociRepositories, ...bucketScenarios].map(
  (one, at) => ({ ...one, at }),
);
const chosen = all.filter(({ name }) => new RegExp(words).test(name));
const report: unknown[] = [];
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

async function play({ name, steps, at }: Scenario & { at: number }) {
  const ns = `s${at}`;
  const sides = [byFlux, bySluice] as const;
  for (const side of sides) await begin(side, ns, signal);
  const names: Names = [
    [new RegExp(folder, "g"), "<tmp>"],
    [/[^ '"]*\/(?:\w+repository|helmchart|bucket|chart-[a-z]*|helmrepository)-[\w-]*?\d{5,}(?=[/ :'"])/g, "<tmp>"],
    [/127\.0\.0\.1:\d+->127/g, "<port>->127"],
    [/\(Client\.Timeout[^)]*\)/g, "(timeout)"],
  ];
  const again = async <T>(act: () => Promise<T>): Promise<T> => {
    for (let tries = 0; ; tries++) {
      try {
        return await act();
      } catch (error) {
        if (tries > 5 || !String(error).match(/cannot be reached|no answer/)) throw error;
      }
    }
  };
  let told = [new Set<string>(), new Set<string>()] as const;
  for (const [number, step] of steps.entries()) {
    await step.change?.(hosts, ns);
    const written = step.apply?.(hosts, ns) ?? [];
    const refusals: (readonly string[])[] = [];
    for (const side of new Set(sides)) {
      refusals.push(await again(() => applyTo(side, written, ns, signal)));
      for (const one of step.remove ?? []) await removeFrom(side, one, ns, signal);
      if (step.isQuiet !== true) await again(() => request(side, `<${number}>`, ns, signal));
    }
    const [flux, mine] = await again(() =>
      settleBoth(sides, ns, names, Number(process.env["PATIENCE"] ?? 6000), signal),
    );
    const fresh = [flux, mine].map(({ events }, side) => events.filter((event) => told[side]?.has(event) !== true));
    told = [new Set(flux.events), new Set(mine.events)];
    const differs =
      !same(refusals[0], refusals[1] ?? refusals[0]) || !same(flux.sources, mine.sources) || !same(fresh[0], fresh[1]);
    const entry = {
      name,
      step: step.what,
      differs,
      over: [flux.isOver, mine.isOver],
      refusals,
      flux: { sources: flux.sources, events: fresh[0] },
      sluice: { sources: mine.sources, events: fresh[1] },
    };
    report.push(entry);
    process.stdout.write(`${differs ? "DIFF" : "same"} ${flux.isOver} ${mine.isOver} ${name} / ${step.what}\n`);
    await writeFile(out, JSON.stringify({ hosts, report }, undefined, 1));
  }
}
const waiting = [...chosen];
await Promise.all(
  Array.from({ length: Number(process.env["AT_ONCE"] ?? 3) }, async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      try {
        await play(one);
      } catch (error) {
        process.stdout.write(`FAILED ${one.name}: ${String(error)}\n`);
      }
    }
  }),
);
process.stdout.write("done\n");
await open.disposeAsync();
process.exit(0);
