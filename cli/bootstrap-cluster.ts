import { messageOf } from "../lib/core/failure.ts";
import { homeNetwork } from "../lib/core/network/network-policy.ts";
import type { Outbound } from "../lib/core/ports/http.ts";
import { httpClient } from "../lib/http/http-client.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { GitFault } from "../lib/sources/git/git-fault.ts";
import { commitSigner } from "./bootstrap/commit-signer.ts";
import type { GitHost, TeamAccess, WantedRepository } from "./bootstrap/git-host.ts";
import { type GitAccess, openBranch } from "./bootstrap/open-branch.ts";
import { commitSync, pushSync, type SyncCommit } from "./bootstrap/push-sync.ts";
import { changedFiles, checkFolder, type FolderClaim, readSyncFiles, type SyncFolder } from "./bootstrap/sync-files.ts";
import { type SyncOptions, syncObjects, syncText } from "./bootstrap/sync-manifests.ts";
import type { BootstrapOptions, CheckedOptions } from "./bootstrap-options.ts";
import { type SourceSecret, storeSecret } from "./bootstrap-secret.ts";
import { applySync, awaitSync, checkCluster, ensureNamespace } from "./bootstrap-sync.ts";
import { connectWebhook } from "./bootstrap-webhook.ts";
import type { Session } from "./session.ts";

/** A repository on a host whose API is asked. */
export interface HostPlan {
  readonly host: GitHost;
  readonly wanted: WantedRepository;
  readonly teams: readonly TeamAccess[];
  readonly isKeyReadOnly: boolean;
}

/** What a `bootstrap` is to do, for all hosts. */
export interface BootstrapPlan {
  readonly options: BootstrapOptions;
  readonly checked: CheckedOptions;
  /** Where the cluster reads the repository. */
  readonly syncUrl: URL;
  /** Undefined for a host that is only known as a git server. */
  readonly onHost: ((outbound: Outbound) => HostPlan) | undefined;
  readonly secret: (session: Session) => Promise<SourceSecret>;
  /** How this command reads and writes the repository. */
  readonly access: (secret: SourceSecret) => GitAccess;
  /** Asks whether the user has added the deploy key; undefined where no user has to. */
  readonly confirmKey: ((key: string) => Promise<void>) | undefined;
  /** What to look at if the repository does not take the login. */
  readonly loginMend: string;
}

/** Another push can win more than once. */
const maxPushes = 5;

/**
 * Has a cluster follow a folder of a repository. Each step leaves alone what is there, in an order in which a run that ends in the middle
 * is completed by the next one: what only reads comes first, the objects of the cluster after the push that they refer to.
 */
export async function bootstrapCluster(plan: BootstrapPlan, session: Session): Promise<void> {
  const { cluster, namespace, terminal, signal } = session;
  const { options, checked } = plan;
  const sync: SyncOptions = {
    ...checked,
    ...{ name: namespace, namespace, url: plan.syncUrl.href, cluster: await cluster.uid(signal) },
    secretName: options.secretName ?? namespace,
    recurseSubmodules: options.recurseSubmodules === true,
  };
  const sign = await commitSigner(options, systemClock.now(), signal);
  const { isFollowed } = await checkCluster(sync, session);
  const outbound = httpClient({ network: homeNetwork });
  try {
    const onHost = plan.onHost?.(outbound);
    if (onHost !== undefined) await ensureRepository(onHost, session);
    const secret = await plan.secret(session);
    if (plan.confirmKey !== undefined && !secret.isStored) {
      await ensureNamespace(session);
      await storeSecret(secret, session);
      await plan.confirmKey(secret.data["identity.pub"] ?? "");
    }
    const claim = { cluster: sync.cluster, isFollowed, force: options.force === true };
    const head = await pushManifests({ plan, sync, claim, secret, sign, onHost, outbound }, session);
    await applySync(syncObjects(sync), session);
    await awaitSync(sync.name, `${checked.branch}@sha1:${head}`, session);
    if (onHost === undefined) {
      terminal.action(
        "no webhook: bootstrap git knows no API of the host. docs/receivers.md says how each host announces its pushes",
      );
    } else if (options.webhook) {
      await connectWebhook(onHost.host, { name: sync.name, url: options.webhookUrl }, session);
    }
    terminal.success("the cluster follows the repository");
  } finally {
    outbound.close();
  }
}

async function ensureRepository(
  { host, wanted, teams }: HostPlan,
  { terminal, signal }: Pick<Session, "signal" | "terminal">,
): Promise<void> {
  terminal.action(`connecting to ${host.name}`);
  const ensured = await host.ensureRepository(wanted, signal);
  if (ensured === "created") terminal.success(`repository "${host.repository}" created`);
  if (ensured === "changed") terminal.success(`repository "${host.repository}" reconciled`);
  for (const team of teams) {
    const granted = await host.ensureTeam(team, signal);
    if (granted !== "present") terminal.success(`granted "${team.access}" permissions to "${team.team}"`);
  }
}

interface Push {
  readonly plan: BootstrapPlan;
  readonly sync: SyncOptions;
  readonly claim: FolderClaim;
  readonly secret: SourceSecret;
  readonly sign: SyncCommit["sign"];
  readonly onHost: HostPlan | undefined;
  readonly outbound: Outbound;
}

/** Writes the files where they are missing, and lets the cluster in. Answers the commit that the cluster is to follow. */
async function pushManifests(push: Push, session: Session): Promise<string> {
  for (let attempt = 1; attempt <= maxPushes; attempt++) {
    const head = await tryPush(push, session);
    if (head !== undefined) return head;
    session.terminal.waiting("git conflict detected, retrying with a fresh clone");
  }
  const { branch } = push.sync;
  throw new Error(`the branch ${branch} has moved ${maxPushes} times during the push: run the command again`);
}

async function tryPush({ plan, sync, claim, secret, sign, onHost, outbound }: Push, session: Session) {
  const { terminal, signal } = session;
  const { branch } = sync;
  const folder: SyncFolder = sync;
  const access = plan.access(secret);
  const shownUrl = withoutLogin(access.url);
  terminal.action(`cloning branch "${branch}" from Git repository "${shownUrl}"`);
  await using opened = await opening(plan, () =>
    openBranch(access, { branch, folder: sync.path.replace(/^\.\/?/, "") }, outbound, signal),
  );
  const { clone } = opened;
  terminal.success("cloned repository");
  const files = await readSyncFiles(clone, folder, signal);
  checkFolder(files, folder, claim);
  await ensureNamespace(session);
  if (plan.confirmKey === undefined) await storeSecret(secret, session);
  if (onHost !== undefined) await ensureDeployKey(onHost, sync, secret, session);
  terminal.action("generating sync manifests");
  const changed = changedFiles(files, folder, await syncText(syncObjects(sync)));
  const { head } = clone;
  if (changed.size === 0 && head !== undefined) {
    terminal.success("sync manifests are up to date");
    return head;
  }
  const { authorName, authorEmail, commitMessageAppendix: appendix } = plan.options;
  const author = { name: authorName, email: authorEmail, at: systemClock.now() };
  const commit = { branch, author, appendix, sign };
  const made = await commitSync(clone, changed, commit, signal);
  terminal.success(`committed sync manifests to "${branch}" ("${made}")`);
  terminal.action(`pushing sync manifests to "${shownUrl}"`);
  return (await pushSync(clone, commit, signal)) ? made : undefined;
}

async function opening<Opened>({ loginMend }: BootstrapPlan, open: () => Promise<Opened>): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof GitFault)) throw error;
    const isLogin = error.reason === "authentication" || error.reason === "authorization";
    const mend = isLogin || error.reason === "not-found" ? `; ${loginMend}` : "";
    throw new Error(`failed to clone repository: ${messageOf(error)}${mend}`, { cause: error });
  }
}

async function ensureDeployKey(
  { host, isKeyReadOnly }: HostPlan,
  { namespace, branch, name, path }: SyncOptions,
  { data }: SourceSecret,
  { terminal, signal }: Session,
): Promise<void> {
  const key = data["identity.pub"]?.trim();
  if (key === undefined) return;
  // As flux names it.
  const title = [namespace, branch, name, path].join("-");
  const ensured = await host.ensureDeployKey({ title, key, isReadOnly: isKeyReadOnly }, signal);
  if (ensured === "present") return;
  terminal.success(`public key: ${key}`);
  terminal.success(`configured deploy key "${title}" for "${host.repository}"`);
}

function withoutLogin(url: URL): string {
  const shown = new URL(url);
  shown.password = "";
  if (shown.protocol !== "ssh:") shown.username = "";
  return shown.href;
}
