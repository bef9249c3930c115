import { type KindDeclaration, servedKind } from "../lib/api/kinds/declaration.ts";
import { messageOf } from "../lib/core/failure.ts";
import { ApiError } from "../lib/core/ports/cluster.ts";
import { definitionRef, isOurs, versionAnnotation } from "../lib/definitions/install-crds.ts";
import { describeOwner, describeOwnerFault } from "../lib/gate/cluster-owner.ts";
import { type Owner, type Pause, readOwnerObject } from "../lib/gate/owner-object.ts";
import { describePause } from "../lib/gate/pause.ts";
import { type CheckedAdmission, checkAdmission } from "./check-admission.ts";
import { type CheckedFlagger, checkFlagger } from "./check-flagger.ts";
import type { FoundOrphans } from "./check-orphans.ts";
import { type CheckedRights, checkRights } from "./check-rights.ts";
import { checkUnreconciled } from "./check-unreconciled.ts";
import { type CheckedVersion, judgeVersion, testedVersions } from "./check-version.ts";
import { escapedJson, yamlWriter } from "./object-documents.ts";
import type { Unreconciled } from "./objects/unreconciled.ts";
import { type GlobalOptions, type Session, type Surroundings, withCluster } from "./session.ts";

export interface CheckOptions {
  readonly orphans?: boolean;
  readonly state?: string;
  readonly output: string;
}

interface CheckedKind {
  readonly name: string;
  readonly isServed: boolean;
  /** `Sluice 0.1.0`, `Sluice` for a release that did not say which it was, `others`; null if this identity may not read it. */
  readonly installedBy: string | null;
}

/** What `check -o json` or `yaml` prints: a field for each check that was made. */
interface CheckedCluster {
  /** Why the cluster could not be asked; then nothing else was checked. */
  readonly fault?: string;
  readonly kubernetes?: CheckedVersion;
  readonly kinds: readonly CheckedKind[];
  /** Kinds of Flux and Flagger with objects that Sluice does not reconcile; absent where that is not known. They fail no check. */
  readonly unreconciled?: readonly Unreconciled[];
  /** Deployments of Flagger that run beside Sluice; absent where that is not known. They fail no check: Sluice may not serve this cluster yet. */
  readonly flagger?: readonly CheckedFlagger[];
  /** The rights of the kubeconfig's identity; they fail no check, since Sluice may run with another identity. */
  readonly rights?: CheckedRights;
  /** Absent where no admission webhook is installed; it fails no check either. */
  readonly admission?: CheckedAdmission;
  /** Null for a cluster without an owner, and where `ownerFault` says why the owner cannot be read. */
  readonly owner: Owner | null;
  readonly ownerFault?: string;
  /** Null if the cluster is not paused. */
  readonly pause: Pause | null;
}

const nothing = { kinds: [], owner: null, pause: null } as const;

/** Opens the cluster and checks it. `-o json` and `-o yaml` print a document also where no cluster can be opened. */
export async function runCheck(
  kinds: readonly KindDeclaration[],
  options: CheckOptions & GlobalOptions,
  surroundings: Surroundings,
): Promise<void> {
  const opened = { isDone: false };
  try {
    await withCluster(options, surroundings, (session) => {
      opened.isDone = true;
      return checkCluster(kinds, options, session);
    });
  } catch (error) {
    if (!opened.isDone) await print({ fault: messageOf(error), ...nothing }, options, surroundings);
    throw error;
  }
}

/**
 * `check`: one line for each check, and with `-o json` or `yaml` a document of all checks.
 *
 * @throws Error `check failed` if one of the checks failed
 */
export async function checkCluster(
  kinds: readonly KindDeclaration[],
  options: CheckOptions,
  session: Session,
): Promise<void> {
  const { output, orphans, state } = options;
  if (!["table", "json", "yaml"].includes(output))
    throw new Error(`--output must be table, json or yaml, not ${output}`);
  if (orphans !== true && state !== undefined) throw new Error("--state needs --orphans");
  const checked = await checkAll(kinds, session);
  const arePassed = isPassed(checked);
  let found: FoundOrphans | undefined;
  if (orphans === true && arePassed) {
    const { checkOrphans } = await import("./check-orphans.ts");
    found = await checkOrphans({ owner: checked.owner ?? undefined, state, isJson: output !== "table" }, session);
  }
  await print({ ...checked, ...found?.json }, options, session);
  if (!arePassed || found?.isClean === false) throw new Error("check failed");
  session.terminal.success("All checks passed");
}

/** As YAML too, the document is of what JSON has. */
async function print(
  document: CheckedCluster,
  { output }: CheckOptions,
  { terminal }: Pick<Session, "terminal">,
): Promise<void> {
  const json = `${escapedJson(JSON.stringify(document, undefined, 2))}\n`;
  if (output === "json") terminal.document(json);
  if (output !== "yaml") return;
  const safeYaml = await yamlWriter();
  terminal.document(safeYaml(JSON.parse(json)));
}

function isPassed({ fault, kubernetes, kinds, ownerFault }: CheckedCluster): boolean {
  if (fault !== undefined || ownerFault !== undefined) return false;
  return kubernetes !== undefined && isVersionPassed(kubernetes) && kinds.every(({ isServed }) => isServed);
}

function isVersionPassed({ verdict }: CheckedVersion): boolean {
  return verdict === "tested" || verdict === "newer";
}

async function checkAll(kinds: readonly KindDeclaration[], session: Session): Promise<CheckedCluster> {
  const { terminal, signal } = session;
  try {
    const kubernetes = await checkKubernetes(session);
    const served = await checkKinds(kinds, session);
    const left = await checkUnreconciled(kinds, session);
    const flagger = await checkFlagger(session);
    const rights = await sayRights(session);
    const admission = await checkAdmission(session);
    const owner = await checkOwner(session);
    return {
      kubernetes,
      kinds: served,
      ...(left === undefined ? {} : { unreconciled: left }),
      ...(flagger === undefined ? {} : { flagger }),
      rights,
      ...(admission === undefined ? {} : { admission }),
      ...owner,
    };
  } catch (error) {
    signal.throwIfAborted();
    terminal.failure(messageOf(error));
    return { fault: messageOf(error), ...nothing };
  }
}

async function checkKubernetes({ serverVersion, terminal, signal }: Session): Promise<CheckedVersion> {
  terminal.action("checking the Kubernetes API");
  const checked = judgeVersion(await serverVersion(signal));
  const name = checked.version === "" ? "unknown version" : `Kubernetes ${checked.version}`;
  switch (checked.verdict) {
    case "tested":
      terminal.success(name);
      break;
    case "newer":
      terminal.warning(`${name} is newer than ${testedVersions}, which Sluice is tested with`);
      break;
    case "older":
    case "unknown":
      terminal.failure(`${name} is not among ${testedVersions}, which Sluice is tested with`);
  }
  return checked;
}

async function checkKinds(
  kinds: readonly KindDeclaration[],
  { cluster, terminal, signal }: Session,
): Promise<CheckedCluster["kinds"]> {
  terminal.action("checking crds");
  const checked: CheckedKind[] = [];
  for (const kind of kinds.toSorted(byPlural)) {
    const served = servedKind(kind);
    const name = `${kind.plural}.${served.group}/${served.version}`;
    const isServed = (await cluster.resource(served, signal)) !== undefined;
    const installedBy = isServed ? await installerOf(kind, cluster, signal) : null;
    if (isServed) terminal.success(installedBy === null ? name : `${name}, installed by ${installedBy}`);
    else terminal.failure(`${name} is not served: sluice local or a deployment in AWS installs it`);
    checked.push({ name, isServed, installedBy });
  }
  return checked;
}

async function installerOf(
  kind: KindDeclaration,
  cluster: Session["cluster"],
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const live = await cluster.get(definitionRef(kind), signal);
    if (live === undefined) return null;
    const version = live.metadata.annotations?.[versionAnnotation];
    if (!isOurs(live)) return "others";
    return version === undefined ? "Sluice" : `Sluice ${version}`;
  } catch (error) {
    if (error instanceof ApiError && error.reason === "Forbidden") return null;
    throw error;
  }
}

function byPlural(a: KindDeclaration, b: KindDeclaration): number {
  return a.plural < b.plural ? -1 : 1;
}

async function sayRights(session: Session): Promise<CheckedRights> {
  const { terminal } = session;
  terminal.action("checking the rights of this identity");
  const rights = await checkRights(session);
  if (rights.missing === null) terminal.warning(`not known: the server does not say (${rights.fault})`);
  else if (rights.missing.length === 0) terminal.success("all that Sluice needs for its own objects");
  for (const right of rights.missing ?? []) {
    terminal.warning(`may not ${right}: Sluice needs it where it runs with this identity`);
  }
  return rights;
}

async function checkOwner({ cluster, terminal, signal }: Session): Promise<Omit<CheckedCluster, "kinds">> {
  terminal.action("checking the owner of this cluster");
  try {
    const { owner = null, ownerFault, pause = null } = await readOwnerObject(cluster, signal);
    if (ownerFault !== undefined) terminal.failure(describeOwnerFault(ownerFault));
    else terminal.success(owner === null ? "none yet" : describeOwner(owner));
    if (pause !== null)
      terminal.warning(`this cluster is ${describePause(pause)}: nothing changes until sluice resume`);
    return { owner, pause, ...(ownerFault === undefined ? {} : { ownerFault: describeOwnerFault(ownerFault) }) };
  } catch (error) {
    signal.throwIfAborted();
    terminal.failure(messageOf(error));
    return { owner: null, ownerFault: messageOf(error), pause: null };
  }
}
