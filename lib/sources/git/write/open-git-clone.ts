import { GitFault } from "../git-fault.ts";
import { parseCommit } from "../git-object.ts";
import type { GitLimits, GitObjects, GitRef, GitRemote } from "../git-remote.ts";
import type { GitTransport } from "../git-transport.ts";
import { walkTree } from "../git-tree.ts";
import { readGreeting } from "../greeting.ts";
import { pktReader } from "../pkt-line.ts";
import { changeTree } from "./change-tree.ts";
import { commitBytes } from "./commit-bytes.ts";
import type { CloneFile, GitClone, NewCommit, PushedRef, PushOptions } from "./git-clone.ts";
import { newObjects } from "./new-objects.ts";
import { assertTaken, pushRequest, type RefCommand, readReport, zeroOid } from "./receive-pack.ts";

/** A repository to which commits are pushed. Dispose ends its connections. */
export interface WritableRepository extends AsyncDisposable {
  readonly remote: GitRemote;
  /** The way to `git-receive-pack` of the same repository. */
  readonly receive: GitTransport;
  readonly limits: Pick<GitLimits, "maxRefBytes" | "maxRefs" | "timeoutMs">;
}

export interface CloneOptions {
  /** The commit to work on; undefined in an empty repository. */
  readonly checkout: string | undefined;
  /**
   * The refs of the server from which `checkout` was chosen, as `remote.list` answered. Every reference that is pushed must be among
   * them if it exists: a push is refused as `moved` where the server names another commit by then.
   */
  readonly listed: readonly GitRef[];
  /** The folders that are read, as {@link GitRemote.fetch} has them: a server that can leaves out the files of others. */
  readonly folders?: readonly string[];
  /** As {@link GitRemote.fetch} has it, for a `checkout` that no ref names. */
  readonly within?: readonly string[];
}

/** Fetches one commit without its history. The clone does not dispose of the repository. Throws a {@link GitFault}. */
export async function openGitClone(
  { remote, receive, limits }: Omit<WritableRepository, keyof AsyncDisposable>,
  { checkout, listed, folders, within = [] }: CloneOptions,
  signal: AbortSignal,
): Promise<GitClone> {
  const fetched =
    checkout === undefined
      ? undefined
      : await remote.fetch([checkout], { within, ...(folders === undefined ? {} : { folders }) }, signal);
  try {
    return await cloneOf({ receive, limits, checkout, listed, fetched });
  } catch (error) {
    await fetched?.[Symbol.asyncDispose]();
    throw error;
  }
}

interface CloneParts extends Pick<WritableRepository, "limits" | "receive">, Pick<CloneOptions, "checkout" | "listed"> {
  readonly fetched: GitObjects | undefined;
}

async function cloneOf({ receive, limits, checkout, listed, fetched }: CloneParts): Promise<GitClone> {
  const objects = newObjects(fetched);
  const opened = checkout === undefined ? undefined : await readCommit(objects, checkout);
  /** Commits that `head` is known to follow. */
  const before = new Set([...(checkout === undefined ? [] : [checkout]), ...(opened?.parents ?? [])]);
  /** What references named when the clone was opened, and what this clone has pushed since. */
  const known = new Map(listed.map(({ name, oid }) => [name, new Set([oid])]));
  let head = checkout;
  let tree = opened?.tree;

  const commandOf = ({ ref, force }: PushedRef, now: string, to: string): RefCommand | undefined => {
    if (now === to) return undefined;
    if (!(known.get(ref) ?? new Set([zeroOid])).has(now)) throw nonFastForward("moved", ref);
    if (!force && now !== zeroOid && !before.has(now)) {
      throw nonFastForward("refused", ref, `it names ${now}, which the pushed commit is not known to follow`);
    }
    return { ref, from: now, to };
  };

  return {
    get head() {
      return head;
    },
    async *files(folder, signal) {
      if (tree === undefined) return;
      const files: CloneFile[] = [];
      const wanted = folder === "" ? {} : { folders: [folder] };
      for await (const { path, type, oid } of walkTree(objects, tree, { ...wanted, signal })) {
        if (type === "directory" || type === "submodule") continue;
        files.push({ path, type, oid, read: async () => (await objects.read(oid)).bytes });
      }
      yield* inGitOrder(files);
    },
    async commit({ files, message, author, sign }: NewCommit, signal) {
      signal.throwIfAborted();
      const changed = await changeTree(objects, tree, files, signal);
      if (head !== undefined && changed === tree) return head;
      const bytes = await commitBytes({ tree: changed, parent: head, author, message, sign }, signal);
      tree = changed;
      head = objects.add("commit", bytes);
      before.add(head);
      return head;
    },
    async push(refs: readonly PushedRef[], { options }: PushOptions, signal) {
      const to = head;
      if (to === undefined) throw new GitFault("missing", "there is nothing to push: the repository has no commit yet");
      await inTime(receive, limits, signal, async (bounded) => {
        const server = await greet(receive, limits, bounded);
        const commands = refs
          .map((pushed) => commandOf(pushed, server.names.get(pushed.ref) ?? zeroOid, to))
          .filter((command) => command !== undefined);
        if (commands.length === 0) return;
        const request = pushRequest(server.capabilities, commands, options, await objects.pack(bounded));
        const report = await server.send(request).catch(async (error: unknown) => {
          if (!isAnswerLost(error) || !(await areMoved(commands, receive, limits, bounded))) throw error;
          return undefined;
        });
        for (const { ref, from } of commands) {
          if (report === undefined || (report.refs.has(ref) && report.refs.get(ref) === undefined)) {
            known.set(ref, new Set([from, to]));
          }
        }
        if (report !== undefined) assertTaken(report, commands);
        objects.sent();
      });
    },
    async [Symbol.asyncDispose]() {
      await fetched?.[Symbol.asyncDispose]();
    },
  };
}

/** Git compares whole paths byte by byte. */
function inGitOrder(files: readonly CloneFile[]): readonly CloneFile[] {
  const keyed = files.map((file) => ({ file, key: Buffer.from(file.path) }));
  return keyed.toSorted((a, b) => Buffer.compare(a.key, b.key)).map(({ file }) => file);
}

async function readCommit(objects: Pick<GitObjects, "read">, oid: string) {
  const { type, bytes } = await objects.read(oid);
  if (type !== "commit")
    throw new GitFault("missing", `object ${oid} is a ${type}, not a commit that can be worked on`);
  return parseCommit(bytes);
}

/** Begins a push: what the server says its references name now. */
async function greet(receive: GitTransport, limits: WritableRepository["limits"], signal: AbortSignal) {
  const bytes = await receive.greet(signal);
  const reader = pktReader(bytes);
  const greeting = await readGreeting(reader, limits);
  if (greeting.version !== 0) {
    throw new GitFault("protocol", "the answer is not git's: a push has no version 2 of the protocol");
  }
  if (receive.isStateless) await reader.drain();
  const { capabilities } = greeting;
  return {
    capabilities,
    names: new Map(greeting.refs.map(({ name, oid }) => [name, oid])),
    async send(request: Uint8Array) {
      const answer = await receive.send(request, 0, signal);
      try {
        if (!receive.isStateless) return await readReport(reader, capabilities);
        const own = pktReader(answer);
        const report = await readReport(own, capabilities);
        await own.drain();
        return report;
      } finally {
        await answer.return?.();
      }
    },
  };
}

function isAnswerLost(error: unknown): boolean {
  return error instanceof GitFault && (error.reason === "protocol" || error.reason === "unreachable");
}

/** Whether the references name what they were to name: a server may have done its work before the answer was lost. */
async function areMoved(
  commands: readonly RefCommand[],
  receive: GitTransport,
  limits: WritableRepository["limits"],
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const { names } = await greet(receive, limits, signal);
    return commands.every(({ ref, to }) => names.get(ref) === to);
  } catch (error) {
    if (error instanceof GitFault) return false;
    throw error;
  }
}

async function inTime(
  { late, url }: GitTransport,
  { timeoutMs }: WritableRepository["limits"],
  signal: AbortSignal,
  work: (bounded: AbortSignal) => Promise<void>,
): Promise<void> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    await work(AbortSignal.any([signal, timeout]));
  } catch (error) {
    signal.throwIfAborted();
    if (!timeout.aborted) throw error;
    throw new GitFault("timeout", late?.fetch ?? `${url}: no answer within ${timeoutMs} ms`, { cause: error });
  }
}

function nonFastForward(reason: "moved" | "refused", ref: string, why?: string): GitFault {
  return new GitFault(reason, `non-fast-forward update: ${ref}${why === undefined ? "" : `: ${why}`}`);
}
