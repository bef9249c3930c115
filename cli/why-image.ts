import { servedKind } from "../lib/api/kinds/declaration.ts";
import { declaredGitRepository } from "../lib/api/kinds/git-repository.ts";
import { declaredImagePolicy } from "../lib/api/kinds/image-policy.ts";
import { declaredImageRepository } from "../lib/api/kinds/image-repository.ts";
import { declaredImageUpdateAutomation } from "../lib/api/kinds/image-update-automation.ts";
import { declaredKustomization } from "../lib/api/kinds/kustomization.ts";
import { barredAnnotation } from "../lib/api/names.ts";
import { messageOf } from "../lib/core/failure.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { subject } from "../lib/core/object-ref.ts";
import { ApiError, type ListQuery } from "../lib/core/ports/cluster.ts";
import { barredName, parseBarred } from "../lib/image/barred/barred-images.ts";
import { shortenHashes } from "./object-rows.ts";
import { sourceOf } from "./object-source.ts";
import { conditionOf, countAt, isSuspended, textAt, valueAt } from "./objects/read-object.ts";
import { loadObject } from "./reconcile-object.ts";
import type { Session } from "./session.ts";
import { table } from "./table.ts";

/** What has happened to the chosen image at one place. */
interface Step {
  readonly what: "barred" | "chosen" | "committed" | "rolled out" | "seen";
  /** As objects write times; empty where it is not known. */
  readonly when: string;
  readonly object: string;
  readonly message: string;
}

const unknownTime = "?";

/**
 * `why image`: which image a policy has chosen, where its tag was seen, why it was chosen, which commit has set it and what has applied
 * that commit. Read from the objects and their events, which the cluster keeps for an hour by default.
 */
export async function whyImage(name: string, session: Session): Promise<void> {
  const policy = await loadObject(declaredImagePolicy, name, session);
  const image = imageOf(policy, "status", "latestRef");
  if (image === "") {
    const ready = conditionOf(policy, "Ready")?.message ?? "waiting to be reconciled";
    throw new Error(`ImagePolicy ${name} has chosen no image: ${ready}`);
  }
  const chosen = await chosenStep(policy, image, session);
  const steps = [
    await seenStep(policy, chosen.when, session),
    chosen,
    ...barredSteps(policy),
    ...(await commitSteps(policy, chosen.when, session)),
  ];
  const { terminal } = session;
  const rows = steps.map(({ what, when, object, message }) => [
    ...[what, when === "" ? unknownTime : when, object],
    shortenHashes(message),
  ]);
  terminal.out(table(["Step", "When", "Object", "Message"], rows, terminal.columns()));
}

/** `name:tag`, with the digest where there is one. */
function imageOf(object: LiveObject, ...path: readonly string[]): string {
  const part = (name: string): string => textAt(object, ...path, name);
  const digest = part("digest");
  return part("tag") === "" ? "" : `${part("name")}:${part("tag")}${digest === "" ? "" : `@${digest}`}`;
}

async function chosenStep(policy: LiveObject, image: string, session: Session): Promise<Step> {
  const tag = textAt(policy, "status", "latestRef", "tag");
  const told = (await eventsOf(policy, session)).findLast(({ message }) => message.includes(` resolved to ${tag}`));
  const before = imageOf(policy, "status", "observedPreviousRef");
  const ready = conditionOf(policy, "Ready");
  const trouble = ready?.status === "True" ? "" : `; now: ${ready?.message ?? "waiting to be reconciled"}`;
  const message = `${image} by ${ruleOf(policy)}${before === "" ? "" : `, before ${before}`}${trouble}`;
  // Without its event the time is not known: Ready may have changed since.
  return { what: "chosen", when: told?.when ?? "", object: nameOf(policy), message };
}

function ruleOf(policy: LiveObject): string {
  const at = (...path: readonly string[]): string => textAt(policy, "spec", ...path);
  const rules = [
    ...(at("policy", "semver", "range") === "" ? [] : [`semver ${at("policy", "semver", "range")}`]),
    ...["alphabetical", "numerical"].flatMap((rule) => {
      const order = at("policy", rule, "order");
      return order === "" ? [] : [`${rule} order ${order}`];
    }),
  ];
  const pattern = at("filterTags", "pattern");
  return `${rules[0] ?? "no rule"}${pattern === "" ? "" : ` among ${pattern}`}`;
}

/** The last scan before the choice: the tag was there then. */
async function seenStep(policy: LiveObject, chosenAt: string, session: Session): Promise<Step> {
  const { namespace = "" } = policy.metadata;
  const elsewhere = textAt(policy, "spec", "imageRepositoryRef", "namespace");
  const ref = {
    ...servedKind(declaredImageRepository),
    namespace: elsewhere === "" ? namespace : elsewhere,
    name: textAt(policy, "spec", "imageRepositoryRef", "name"),
  };
  const step = { what: "seen", object: subject(ref) } as const;
  const repository = await session.cluster.get(ref, session.signal);
  if (repository === undefined) return { ...step, when: "", message: "the ImageRepository is gone" };
  const scans = (await eventsOf(repository, session)).filter(({ message }) => message.startsWith("successful scan: "));
  const scan = scans.findLast(({ when }) => chosenAt === "" || when <= chosenAt);
  if (scan !== undefined) return { ...step, ...scan };
  const count = countAt(repository, "status", "lastScanResult", "tagCount");
  const last = textAt(repository, "status", "lastScanResult", "scanTime");
  return { ...step, when: "", message: `in a scan without an event; the last one, of ${last}, found ${count} tags` };
}

function barredSteps(policy: LiveObject): readonly Step[] {
  const object = nameOf(policy);
  try {
    return parseBarred(policy.metadata.annotations?.[barredAnnotation] ?? "").map((one) => ({
      ...({ what: "barred", when: "", object } as const),
      message: `${barredName(one)} ${one.why}`.trim(),
    }));
  } catch (error) {
    return [{ what: "barred", when: "", object, message: `annotation ${barredAnnotation}: ${messageOf(error)}` }];
  }
}

/** Each automation of the namespace, and what has applied its commit. */
async function commitSteps(policy: LiveObject, chosenAt: string, session: Session): Promise<readonly Step[]> {
  const { name, namespace = "" } = policy.metadata;
  const query = { ...servedKind(declaredImageUpdateAutomation), namespace };
  const automations = await session.cluster.list(query, session.signal);
  const steps: Step[] = [];
  for (const automation of automations) {
    const step = { what: "committed", object: nameOf(automation) } as const;
    const image = imageOf(policy, "status", "latestRef");
    const used = imageOf(automation, "status", "observedPolicies", name);
    if (used !== image) {
      const ready = conditionOf(automation, "Ready");
      const why = isSuspended({}, automation) ? "suspended" : (ready?.message ?? "waiting to be reconciled");
      const last = used === "" ? "its last run did not use the policy" : `its last run has set ${used}`;
      steps.push({ ...step, when: "", message: `not yet, ${last}: ${why}` });
      continue;
    }
    const commit = textAt(automation, "status", "lastPushCommit");
    const pushedAt = textAt(automation, "status", "lastPushTime");
    const told = (await eventsOf(automation, session)).find(
      ({ message, when }) => message.startsWith("pushed commit '") && (chosenAt === "" || when >= chosenAt),
    );
    const isLast = told === undefined || told.message.startsWith(`pushed commit '${commit.slice(0, 7)}'`);
    if (told !== undefined) steps.push({ ...step, when: told.when, message: told.message.split("\n", 1)[0] ?? "" });
    else if (commit !== "" && (chosenAt === "" || pushedAt >= chosenAt)) {
      steps.push({ ...step, when: pushedAt, message: `pushed commit '${commit}', or one before it` });
    } else {
      steps.push({ ...step, when: "", message: "nothing to change: the files had the image already" });
      continue;
    }
    steps.push(...(await rolloutSteps(automation, isLast ? commit : "", session)));
  }
  if (automations.length === 0) {
    const message = `no ImageUpdateAutomation in namespace ${namespace}: nothing commits the image`;
    steps.push({ what: "committed", when: "", object: "", message });
  }
  return steps;
}

/** The Kustomizations of the repository that the commit was pushed to. @param commit empty where only its beginning is known */
async function rolloutSteps(automation: LiveObject, commit: string, session: Session): Promise<readonly Step[]> {
  const source = sourceOf({ sourceRefs: [["spec", "sourceRef"]] }, automation);
  const found = await anywhere(servedKind(declaredKustomization), session);
  const steps: Step[] = [];
  for (const kustomization of found) {
    const used = sourceOf(declaredKustomization, kustomization);
    const isOfSource =
      used?.kind === declaredGitRepository.kind && used.name === source?.name && used.namespace === source.namespace;
    if (!isOfSource) continue;
    const step = { what: "rolled out", object: nameOf(kustomization) } as const;
    const revision = textAt(kustomization, "status", "lastAppliedRevision");
    const ready = valueAt(kustomization, "status", "conditions");
    const condition = conditionOf(kustomization, "Ready");
    const message = condition?.message ?? "waiting to be reconciled";
    if (commit !== "" && revision.endsWith(commit)) {
      const since = condition?.status === "True" ? transitionOf(ready) : "";
      steps.push({ ...step, when: since, message: `applied ${revision}` });
    } else {
      const at = revision === "" ? "nothing applied yet" : `applied ${revision}, which may hold the commit or not`;
      steps.push({ ...step, when: "", message: `${at}: ${message}` });
    }
  }
  return steps;
}

/** Since when the object has been ready. */
function transitionOf(conditions: unknown): string {
  const list: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
  const ready = list.find((one) => textIn(one, "type") === "Ready");
  return textIn(ready, "lastTransitionTime");
}

function textIn(value: unknown, key: string): string {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  return typeof found === "string" ? found : "";
}

/** Lists in all namespaces, or in the command's own if the user may not list the others. */
async function anywhere(query: ListQuery, { cluster, namespace, signal }: Session): Promise<readonly LiveObject[]> {
  return cluster.list(query, signal).catch((error: unknown) => {
    if (error instanceof ApiError && error.reason === "Forbidden") return cluster.list({ ...query, namespace }, signal);
    throw error;
  });
}

interface Told {
  readonly when: string;
  readonly message: string;
}

/** The events of an object, oldest first; each by the time at which it was first told. */
async function eventsOf({ kind, metadata }: LiveObject, { cluster, signal }: Session): Promise<readonly Told[]> {
  const { name, namespace = "" } = metadata;
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
  const found = await cluster.list({ group: "", version: "v1", kind: "Event", namespace, fieldSelector }, signal);
  return found
    .map((event) => {
      const first = textAt(event, "firstTimestamp");
      return { when: first === "" ? textAt(event, "eventTime") : first, message: textAt(event, "message") };
    })
    .toSorted((a, b) => (a.when < b.when ? -1 : Number(a.when > b.when)));
}

function nameOf({ kind, metadata: { name, namespace = "" } }: LiveObject): string {
  return subject({ kind, namespace, name });
}
