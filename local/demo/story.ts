import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { orAborted } from "../../lib/core/concurrency.ts";
import { isJsonObject } from "../../lib/core/json.ts";
import { refOf } from "../../lib/core/manifest.ts";
import { subject } from "../../lib/core/object-ref.ts";
import {
  configMap,
  countConfigMaps,
  example,
  hasReadyCondition,
  isApply,
  isWrite,
  liveObjects,
  marks,
  pushEdited,
  requestReconcile,
  same,
  untilApplied,
  withoutStatus,
} from "./actions.ts";
import { managed, tidyUp } from "./objects.ts";
import { readManifests } from "./read-manifests.ts";
import { appName, mustBe, namespace, type Stage, until } from "./stage.ts";

/** The outcome of a scene: its facts, and the moments of its hops in milliseconds. */
export interface Report {
  readonly hops: Readonly<Record<string, number>>;
  readonly facts: readonly string[];
}

export interface Scene {
  readonly title: string;
  readonly play: (stage: Stage) => Promise<Report>;
}

const kept = managed.filter(({ kind }) => kind !== "PodDisruptionBudget");
const manyObjects = 60;

export const scenes: readonly Scene[] = [
  { title: "A team pushes v1 of its manifests", play: pushFirst },
  { title: "The same tag is pushed again, without the PodDisruptionBudget", play: pushWithoutBudget },
  { title: "Reconcile again: nothing has changed", play: reconcileUnchanged },
  { title: "The Deployment is scaled by hand and the Service is deleted", play: healDrift },
  { title: "A push with an invalid object", play: pushInvalid },
  { title: `Sluice is killed in the middle of applying ${manyObjects} objects`, play: killAndResume },
  { title: "The Kustomization is deleted", play: deleteEverything },
];

async function pushFirst(stage: Stage): Promise<Report> {
  const url = `oci://${stage.sluice().ready.registry}/${appName}`;
  const text = (await readFile(join(example, "source.yaml"), "utf8")).replace("oci://127.0.0.1:5000/oddy-test", url);
  for (const manifest of readManifests(text)) {
    await stage.cluster.apply(manifest, { manager: "kubectl", force: true }, stage.signal);
  }
  await until(
    "the source is watched for pushes",
    async () => (await hasReadyCondition(stage)) || undefined,
    () => stage.ready(),
    stage.signal,
  );
  const { revision, at } = await stage.push(join(example, "manifests"));
  const hops = await untilApplied(stage, revision, at);
  for (const { apiVersion, kind, name } of managed) {
    mustBe(
      `${kind}/${namespace}/${name} appears`,
      (await stage.get(kind, name, apiVersion)) !== undefined,
      "it is missing",
    );
  }
  const { inventory } = (await stage.app()).status;
  mustBe("the inventory has four entries", inventory?.entries.length === 4, inventory);
  return { hops, facts: ["four objects, inventory of four", await stage.ready()] };
}

async function pushWithoutBudget(stage: Stage): Promise<Report> {
  const before = await liveObjects(stage, kept);
  const { revision, at } = await pushEdited(stage, (folder) => rm(join(folder, "pdb.yaml")));
  const hops = await untilApplied(stage, revision, at);
  const deleted = "PodDisruptionBudget/default/oddy-test-pdb deleted";
  mustBe(`an event says ${deleted}`, (await stage.events()).includes(deleted), await stage.events());
  mustBe(
    "the PodDisruptionBudget is gone",
    (await stage.get("PodDisruptionBudget", "oddy-test-pdb", "policy/v1")) === undefined,
    "it exists",
  );
  const after = await liveObjects(stage, kept);
  mustBe(
    "the other objects keep uid, generation and our managed-fields entry",
    same(before, after, marks),
    after.map(marks),
  );
  return { hops, facts: [deleted, "the other three are untouched; it did not wait for an interval"] };
}

async function reconcileUnchanged(stage: Stage): Promise<Report> {
  const before = await liveObjects(stage, kept);
  const events = (await stage.events()).length;
  const { requests } = stage.sluice();
  const first = requests.length;
  const at = await requestReconcile(stage);
  // The child's log comes through a pipe, so it may be behind what the cluster already shows; status and event go at the same time.
  const ofRun = () => requests.slice(first).filter(({ path }) => !path.includes("/ocirepositories/"));
  const isLogged = async () =>
    stage.sluice().ends.some(({ key, at: endedAt }) => key.kind === "Kustomization" && endedAt >= at) || undefined;
  await until("the end of the run is logged", isLogged, async () => JSON.stringify(ofRun()), stage.signal);
  const sent = ofRun();
  const writes = sent.filter(isWrite);
  const toStatus = writes.filter(({ path }) => path.includes(`/kustomizations/${appName}/status`));
  const toEvents = writes.filter(({ path }) => path.includes("/events"));
  mustBe(
    "one status write and one event, no other write",
    writes.length === 2 && toStatus.length === 1 && toEvents.length === 1,
    writes,
  );
  const added = (await stage.events()).slice(events);
  mustBe(
    "one event: finished",
    added.length === 1 && added[0]?.startsWith("Reconciliation finished in") === true,
    added,
  );
  mustBe("Ready stays True", (await stage.ready()).startsWith("True"), await stage.ready());
  mustBe(
    // Not the resourceVersion: on a real cluster controllers write the status of what was applied a moment ago.
    "no object has another uid, generation or managed-fields entry of ours",
    same(before, await liveObjects(stage, kept), marks),
    (await liveObjects(stage, kept)).map(marks),
  );
  const lists = sent.filter(({ verb }) => verb === "list").length;
  return {
    hops: { handled: Date.now() - at },
    facts: [`writes to managed objects: 0 (counted at our client); lists: ${lists}; status writes: 1; events: 1`],
  };
}

async function healDrift(stage: Stage): Promise<Report> {
  const ref = { group: "apps", version: "v1", kind: "Deployment", namespace, name: "oddy-test-deployment" };
  await stage.cluster.patch(
    ref,
    { type: "merge", body: { spec: { replicas: 5 } } },
    { manager: "kubectl-scale" },
    stage.signal,
  );
  const service = { group: "", version: "v1", kind: "Service", namespace, name: "oddy-test-service" };
  await stage.cluster.delete(service, { propagation: "Background" }, stage.signal);
  const at = await requestReconcile(stage);
  const spec = (await stage.cluster.get(ref, stage.signal))?.["spec"];
  mustBe("the Deployment has two replicas again", isJsonObject(spec) && spec["replicas"] === 2, spec);
  mustBe("the Service is back", (await stage.cluster.get(service, stage.signal)) !== undefined, "it is missing");
  const healed = "Service/default/oddy-test-service created\nDeployment/default/oddy-test-deployment configured";
  mustBe("an event names both", (await stage.events()).includes(healed), await stage.events());
  return { hops: { healed: Date.now() - at }, facts: healed.split("\n") };
}

async function pushInvalid(stage: Stage): Promise<Report> {
  const before = await liveObjects(stage, kept);
  const { at } = await pushEdited(stage, async (folder) => {
    await rm(join(folder, "pdb.yaml"));
    const file = join(folder, "service.yaml");
    await writeFile(file, (await readFile(file, "utf8")).replace("port: 80\n", "port: 800000\n"));
    await writeFile(join(folder, "new.yaml"), configMap("oddy-test-new"));
  });
  const expected = "Ready=False that names Service/default/oddy-test-service";
  const seen = await until(
    expected,
    async () => {
      const ready = await stage.ready();
      return ready.startsWith("False Service/default/oddy-test-service dry-run failed (Invalid)") ? ready : undefined;
    },
    () => stage.ready(),
    stage.signal,
  );
  const took = Date.now() - at;
  mustBe(
    "the cluster is as before",
    same(before, await liveObjects(stage, kept), withoutStatus),
    "something was written",
  );
  mustBe(
    "no new object was created",
    (await stage.get("ConfigMap", "oddy-test-new", "v1")) === undefined,
    "ConfigMap/default/oddy-test-new",
  );
  return { hops: { refused: took }, facts: [seen.trim(), "the cluster is exactly as before"] };
}

async function killAndResume(stage: Stage): Promise<Report> {
  const names = Array.from({ length: manyObjects }, (_, index) => `oddy-test-${String(index).padStart(2, "0")}`);
  const killed = Promise.withResolvers<void>();
  let applied = 0;
  stage.sluice().watch((request) => {
    if (!isApply(request) || ++applied < manyObjects / 3) return false;
    stage.sluice().kill().then(killed.resolve, killed.reject);
    return true;
  });
  const { revision } = await pushEdited(stage, async (folder) => {
    await rm(join(folder, "pdb.yaml"));
    await Promise.all(names.map((name) => writeFile(join(folder, `${name}.yaml`), configMap(name))));
  });
  // Ctrl-C also ends the process that was to be killed.
  await orAborted(killed.promise, stage.signal);
  const at = Date.now();
  await stage.restart();
  const started = Date.now() - at;
  const hops = await untilApplied(stage, revision, at);
  const present = await countConfigMaps(stage);
  mustBe(`all ${manyObjects} exist`, present === manyObjects, `${String(present)} of ${manyObjects}`);
  const entries = (await stage.app()).status.inventory?.entries.length;
  mustBe("the inventory lists them all", entries === manyObjects + kept.length, `${String(entries)} entries`);
  const back = await pushEdited(stage, (folder) => rm(join(folder, "pdb.yaml")));
  await untilApplied(stage, back.revision, back.at);
  mustBe(
    "none is left after the next push",
    (await countConfigMaps(stage)) === 0,
    `${await countConfigMaps(stage)} left`,
  );
  return {
    hops: { restarted: started, ...hops },
    facts: [
      `killed after ${applied} applies; all ${manyObjects} exist after the restart, none is left after the next push`,
    ],
  };
}

async function deleteEverything(stage: Stage): Promise<Report> {
  const bystander = readManifests(configMap("not-ours"))[0];
  if (bystander !== undefined) await stage.cluster.apply(bystander, { manager: "kubectl", force: true }, stage.signal);
  const ref = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization", namespace, name: appName };
  const at = Date.now();
  await stage.cluster.delete(ref, { propagation: "Background" }, stage.signal);
  const isGone = async () => (await stage.cluster.get(ref, stage.signal)) === undefined || undefined;
  await until("the Kustomization is gone", isGone, async () => "it is still there", stage.signal);
  const took = Date.now() - at;
  const left = (await liveObjects(stage, managed)).map((object) => subject(refOf(object)));
  mustBe("all its objects are gone", left.length === 0, left);
  mustBe(
    "no other object is gone",
    (await stage.get("ConfigMap", "not-ours", "v1")) !== undefined,
    "ConfigMap/default/not-ours",
  );
  await tidyUp(stage.cluster, stage.signal);
  return { hops: { gone: took }, facts: ["all its objects are gone, and nothing else"] };
}
