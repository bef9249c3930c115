import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { findCondition } from "../../lib/api/condition.ts";
import { HelmReleaseStatus } from "../../lib/api/helm-release-status.ts";
import { isJsonObject } from "../../lib/core/json.ts";
import type { LiveObject } from "../../lib/core/manifest.ts";
import { type ChartFiles, pushChart } from "./push-chart.ts";
import { readManifests } from "./read-manifests.ts";
import { mustBe, namespace, type Stage, until } from "./stage.ts";
import type { Report, Scene } from "./story.ts";

const example = join(import.meta.dirname, "../../examples/podinfo-helm");
const name = "podinfo";

/** The story of a team with a Helm chart: `npm run demo -- helm`. */
export const helmScenes: readonly Scene[] = [
  { title: "A team pushes its chart", play: install },
  { title: "Version 1.1.0 of the chart is pushed", play: upgrade },
  { title: "A value changes in its ConfigMap", play: changeValue },
  { title: "The Deployment is scaled by hand and the Service is deleted", play: healDrift },
  { title: "Version 1.2.0 is pushed, whose migration fails", play: rollBack },
  { title: "The HelmRelease is deleted", play: uninstall },
];

async function install(stage: Stage): Promise<Report> {
  const text = await readFile(join(example, "release.yaml"), "utf8");
  for (const manifest of readManifests(text.replace("127.0.0.1:5000", stage.sluice().ready.registry))) {
    await stage.cluster.apply(manifest, { manager: "kubectl", force: true }, stage.signal);
  }
  await until(
    "the HelmRelease waits for its chart",
    async () => ((await ready(stage)).startsWith("False") ? true : undefined),
    () => ready(stage),
    stage.signal,
  );
  const at = await push(stage, "1.0.0");
  const said = await untilReady(stage, "True Helm install succeeded", "1.0.0");
  const took = Date.now() - at;
  for (const kind of ["ConfigMap", "Deployment", "Service"]) {
    mustBe(`${kind}/${namespace}/${name} appears`, (await live(stage, kind)) !== undefined, "it is missing");
  }
  return { hops: { installed: took }, facts: [said, await shown(stage)] };
}

async function upgrade(stage: Stage): Promise<Report> {
  const at = await push(stage, "1.1.0");
  const said = await untilReady(stage, "True Helm upgrade succeeded", "1.1.0");
  const took = Date.now() - at;
  const revisions = await history(stage);
  mustBe("the former revision is superseded", revisions[1]?.startsWith("v1 superseded") === true, revisions);
  const about = { fieldSelector: `involvedObject.kind=Job,involvedObject.name=${name}-migrate` };
  const events = await stage.cluster.list(
    { group: "", version: "v1", kind: "Event", namespace, ...about },
    stage.signal,
  );
  const reasons = events.map(({ reason }) => reason);
  mustBe("the Job of the migration has run", reasons.includes("Completed"), reasons);
  return { hops: { upgraded: took }, facts: [said, revisions.join(", "), "the Job of the migration has run"] };
}

async function changeValue(stage: Stage): Promise<Report> {
  const at = Date.now();
  const ref = { group: "", version: "v1", kind: "ConfigMap", namespace, name: "podinfo-values" };
  const body = { data: { "values.yaml": "replicas: 3\n" } };
  await stage.cluster.patch(ref, { type: "merge", body }, { manager: "kubectl" }, stage.signal);
  const said = await untilReady(stage, "True Helm upgrade succeeded", "podinfo.v3");
  const took = Date.now() - at;
  mustBe("the Deployment has three replicas", (await replicas(stage)) === 3, await replicas(stage));
  return { hops: { upgraded: took }, facts: [said, await shown(stage)] };
}

async function healDrift(stage: Stage): Promise<Report> {
  const before = await history(stage);
  const ref = { group: "apps", version: "v1", kind: "Deployment", namespace, name };
  const scaled = { type: "merge", body: { spec: { replicas: 5 } } } as const;
  await stage.cluster.patch(ref, scaled, { manager: "kubectl-scale" }, stage.signal);
  const service = { group: "", version: "v1", kind: "Service", namespace, name };
  await stage.cluster.delete(service, { propagation: "Background" }, stage.signal);
  const at = Date.now();
  const requestedAt = new Date().toISOString();
  const annotated = { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": requestedAt } } };
  await stage.cluster.patch(release, { type: "merge", body: annotated }, { manager: "kubectl" }, stage.signal);
  await until(
    "both are corrected",
    async () => ((await replicas(stage)) === 3 && (await live(stage, "Service")) !== undefined ? true : undefined),
    async () => `${await replicas(stage)} replicas; ${await ready(stage)}`,
    stage.signal,
  );
  const took = Date.now() - at;
  const after = await history(stage);
  mustBe("the release has no new revision", before[0] === after[0], after);
  return { hops: { corrected: took }, facts: ["three replicas and the Service again, without a new revision"] };
}

async function rollBack(stage: Stage): Promise<Report> {
  const before = await live(stage, "Deployment");
  // On the embedded cluster, which runs no containers, an annotation says that a Pod fails.
  const at = await push(stage, "1.2.0", { "local.sluice.dev/simulate": "fail" });
  const said = await untilReady(stage, "False Helm rollback to previous release", "1.1.0");
  const took = Date.now() - at;
  const after = await live(stage, "Deployment");
  mustBe("the Deployment is as before", same(before, after), after?.metadata);
  const revisions = await history(stage);
  return {
    hops: { "rolled back": took },
    facts: [said, revisions.slice(0, 2).join(", "), "the Deployment is untouched"],
  };
}

async function uninstall(stage: Stage): Promise<Report> {
  const at = Date.now();
  await stage.cluster.delete(release, { propagation: "Background" }, stage.signal);
  await until(
    "the HelmRelease is gone",
    async () => ((await stage.cluster.get(release, stage.signal)) === undefined ? true : undefined),
    () => ready(stage),
    stage.signal,
  );
  const took = Date.now() - at;
  for (const kind of ["ConfigMap", "Deployment", "Service"]) {
    mustBe(`${kind}/${namespace}/${name} is gone`, (await live(stage, kind)) === undefined, "it exists");
  }
  const query = { group: "", version: "v1", kind: "Secret", namespace, labelSelector: "owner=helm" };
  const left = await stage.cluster.list(query, stage.signal);
  mustBe("no record of the release is left", left.length === 0, left.length);
  const values = await stage.get("ConfigMap", "podinfo-values", "v1");
  mustBe("the ConfigMap with the values stays", values !== undefined, "it is gone");
  return { hops: { gone: took }, facts: ["its objects and its records are gone, and nothing else"] };
}

const release = { group: "helm.toolkit.fluxcd.io", version: "v2", kind: "HelmRelease", namespace, name };

/** Pushes the chart of the example as this version; the Job of the migration gets these annotations. */
async function push(
  stage: Stage,
  version: string,
  ofMigration: Readonly<Record<string, string>> = {},
): Promise<number> {
  const files = new Map(await chartFiles());
  const edit = (file: string, change: (text: string) => string) => files.set(file, change(files.get(file) ?? ""));
  edit("Chart.yaml", (text) => text.replace(/^version: .*$/m, `version: ${version}`));
  for (const [key, value] of Object.entries(ofMigration)) {
    edit("templates/migrate.yaml", (text) => text.replace("annotations:\n", `annotations:\n    ${key}: ${value}\n`));
  }
  const to = { host: stage.sluice().ready.registry, repository: `charts/${name}` };
  return (await pushChart(files, to, stage.signal)).at;
}

async function chartFiles(): Promise<ChartFiles> {
  const folder = join(example, name);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name: file }) => join(parentPath, file));
  const read = async (file: string) => [file.slice(folder.length + 1), await readFile(file, "utf8")] as const;
  return new Map(await Promise.all(files.toSorted().map(read)));
}

function live({ cluster, signal }: Stage, kind: string): Promise<LiveObject | undefined> {
  const group = kind === "Deployment" ? "apps" : "";
  return cluster.get({ group, version: "v1", kind, namespace, name }, signal);
}

/** The replicas of the Deployment; 0 if it does not exist. */
async function replicas(stage: Stage): Promise<number> {
  const spec = (await live(stage, "Deployment"))?.["spec"];
  const wanted = isJsonObject(spec) ? spec["replicas"] : undefined;
  return typeof wanted === "number" ? wanted : 0;
}

async function shown(stage: Stage): Promise<string> {
  const data = (await live(stage, "ConfigMap"))?.["data"];
  const message = isJsonObject(data) ? data["message"] : undefined;
  return `${await replicas(stage)} replicas, message ${JSON.stringify(message)}`;
}

function same(before: LiveObject | undefined, after: LiveObject | undefined): boolean {
  const [one, other] = [before?.metadata, after?.metadata];
  return one !== undefined && one.uid === other?.uid && one.generation === other.generation;
}

async function status(stage: Stage): Promise<HelmReleaseStatus> {
  const found = await stage.cluster.get(release, stage.signal);
  return HelmReleaseStatus.parse(found?.["status"] ?? {});
}

/** Its revisions, newest first: `v2 deployed 1.1.0`. */
async function history(stage: Stage): Promise<readonly string[]> {
  const { history: revisions = [] } = await status(stage);
  return revisions.map(({ chartVersion, status: state, version }) => `v${version} ${state} ${chartVersion}`);
}

/** `status message` of its Ready condition. */
async function ready(stage: Stage): Promise<string> {
  const condition = findCondition((await status(stage)).conditions ?? [], "Ready");
  return condition === undefined ? "no Ready condition" : `${condition.status} ${condition.message}`;
}

function untilReady(stage: Stage, begins: string, names: string): Promise<string> {
  const look = async () => {
    const text = await ready(stage);
    return text.startsWith(begins) && text.includes(names) ? text : undefined;
  };
  return until(`${begins} … ${names}`, look, () => ready(stage), stage.signal);
}
