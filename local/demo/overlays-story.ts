import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findCondition } from "../../lib/api/condition.ts";
import { type Kustomization, parseKustomization } from "../../lib/api/kustomization.ts";
import { isJsonObject } from "../../lib/core/json.ts";
import type { LiveObject } from "../../lib/core/manifest.ts";
import { readManifests } from "./read-manifests.ts";
import { mustBe, namespace, type Stage, until } from "./stage.ts";
import type { Report, Scene } from "./story.ts";

const example = join(import.meta.dirname, "../../examples/overlays");
const repository = "greeter";
type Environment = "staging" | "production";
const environments: readonly Environment[] = ["staging", "production"];
const passwords = environments.map((environment) => `only-for-${environment}`);

/** The story of a team with an overlay for each environment: `npm run demo -- overlays`. */
export const overlayScenes: readonly Scene[] = [
  { title: "One push, two environments: staging first, then production", play: pushBoth },
  { title: "A variable of production changes in its ConfigMap", play: changeVariable },
  { title: "Staging loses a variable that its manifests need", play: loseVariable },
  { title: "An encrypted Secret is edited without the key", play: tamper },
];

async function pushBoth(stage: Stage): Promise<Report> {
  const environmentsText = await readFile(join(example, "environments.yaml"), "utf8");
  const key = await readFile(join(example, "sops-age.yaml"), "utf8");
  const here = environmentsText.replace("127.0.0.1:5000", stage.sluice().ready.registry);
  for (const manifest of [...readManifests(key), ...readManifests(here)]) {
    await stage.cluster.apply(manifest, { manager: "kubectl", force: true }, stage.signal);
  }
  await until(
    "both environments wait for the first push",
    async () =>
      (await Promise.all(environments.map((one) => ready(stage, one)))).every((text) => text !== "") || undefined,
    async () => "no Ready condition",
    stage.signal,
  );
  const { revision, at } = await stage.push(join(example, "manifests"), repository);
  const hops: Record<string, number> = {};
  for (const environment of environments) {
    await untilReady(stage, environment, `True Applied revision: ${revision}`);
    hops[`${environment} ready`] = Date.now() - at;
  }
  return { hops, facts: await Promise.all(environments.map((environment) => shown(stage, environment))) };
}

async function changeVariable(stage: Stage): Promise<Report> {
  const before = await live(stage, "staging", "ConfigMap");
  const at = Date.now();
  await patchValues(stage, "production", { greeting: "Good morning" });
  await until(
    "production greets with the new value",
    async () =>
      (await field(stage, "production", "ConfigMap", "greeting")) === "Good morning from production" || undefined,
    () => field(stage, "production", "ConfigMap", "greeting"),
    stage.signal,
  );
  const took = Date.now() - at;
  const after = await live(stage, "staging", "ConfigMap");
  mustBe("staging is untouched", same(before, after), after?.metadata);
  return { hops: { applied: took }, facts: [await shown(stage, "production"), "staging is untouched"] };
}

async function loseVariable(stage: Stage): Promise<Report> {
  const before = await live(stage, "staging", "ConfigMap");
  const at = Date.now();
  await patchValues(stage, "staging", { greeting: null, tone: "warm" });
  const why = await untilReady(stage, "staging", "False");
  const took = Date.now() - at;
  mustBe("the failure names the variable", why.includes('variable not set (strict mode): "greeting"'), why);
  mustBe("the cluster is as before", same(before, await live(stage, "staging", "ConfigMap")), "it was changed");
  await patchValues(stage, "staging", { greeting: "Hi", tone: null });
  await untilReady(stage, "staging", "True");
  return {
    hops: { refused: took },
    facts: [why, "the cluster is exactly as before; the value is back, and Ready is True"],
  };
}

async function tamper(stage: Stage): Promise<Report> {
  const before = await live(stage, "staging", "Secret");
  const folder = await mkdtemp(join(tmpdir(), "sluice-demo-push-"));
  try {
    await cp(join(example, "manifests"), folder, { recursive: true });
    const file = join(folder, "staging/secret.yaml");
    // What is not encrypted is covered by the MAC of the file as well.
    await writeFile(
      file,
      (await readFile(file, "utf8")).replace("kind: Secret", "kind: Secret\ntype: example.com/other"),
    );
    const { at } = await stage.push(folder, repository);
    const why = await untilReady(stage, "staging", "False");
    const took = Date.now() - at;
    mustBe("the failure speaks of the MAC", why.includes("MAC"), why);
    mustBe("the Secret is as before", same(before, await live(stage, "staging", "Secret")), "it was changed");
    const told = JSON.stringify([await kustomization(stage, "staging"), await eventsOf(stage)]);
    mustBe("no status and no event has a password", !passwords.some((password) => told.includes(password)), "one has");
    return { hops: { refused: took }, facts: [why, "the Secret is as before; no status and no event has its value"] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What an environment has: it fails unless its Secret is in plain text. */
async function shown(stage: Stage, environment: Environment): Promise<string> {
  const spec = (await live(stage, environment, "Deployment"))?.["spec"];
  const replicas = isJsonObject(spec) ? spec["replicas"] : undefined;
  const password = Buffer.from(await field(stage, environment, "Secret", "password"), "base64").toString();
  mustBe(`the Secret of ${environment} is decrypted`, password === `only-for-${environment}`, "it is not");
  const greeting = await field(stage, environment, "ConfigMap", "greeting");
  return `${environment}: "${greeting}", ${JSON.stringify(replicas)} ${replicas === 1 ? "replica" : "replicas"}, Secret decrypted`;
}

async function field(stage: Stage, environment: Environment, kind: string, name: string): Promise<string> {
  const data = (await live(stage, environment, kind))?.["data"];
  const value = isJsonObject(data) ? data[name] : undefined;
  return typeof value === "string" ? value : "";
}

function live({ cluster, signal }: Stage, environment: Environment, kind: string): Promise<LiveObject | undefined> {
  const group = kind === "Deployment" ? "apps" : "";
  return cluster.get({ group, version: "v1", kind, namespace: `greeter-${environment}`, name: "greeter" }, signal);
}

function same(before: LiveObject | undefined, after: LiveObject | undefined): boolean {
  const [one, other] = [before?.metadata, after?.metadata];
  return one !== undefined && one.uid === other?.uid && one.resourceVersion === other.resourceVersion;
}

async function patchValues(
  stage: Stage,
  environment: Environment,
  data: Readonly<Record<string, string | null>>,
): Promise<void> {
  const ref = { group: "", version: "v1", kind: "ConfigMap", namespace, name: `${environment}-values` };
  await stage.cluster.patch(ref, { type: "merge", body: { data } }, { manager: "kubectl" }, stage.signal);
}

async function kustomization(stage: Stage, environment: Environment): Promise<Kustomization | undefined> {
  const found = await stage.get("Kustomization", `greeter-${environment}`, "kustomize.toolkit.fluxcd.io/v1");
  return found === undefined ? undefined : parseKustomization(found);
}

/** `status message` of its Ready condition. */
async function ready(stage: Stage, environment: Environment): Promise<string> {
  const condition = findCondition((await kustomization(stage, environment))?.status.conditions ?? [], "Ready");
  return condition === undefined ? "" : `${condition.status} ${condition.message}`;
}

function untilReady(stage: Stage, environment: Environment, wanted: string): Promise<string> {
  const look = async () => {
    const text = await ready(stage, environment);
    return text.startsWith(wanted) ? text : undefined;
  };
  return until(`${environment} says ${wanted}`, look, () => ready(stage, environment), stage.signal);
}

async function eventsOf({ cluster, signal }: Stage): Promise<readonly string[]> {
  const found = await cluster.list({ group: "", version: "v1", kind: "Event", namespace }, signal);
  return found.map(({ message }) => String(message));
}
