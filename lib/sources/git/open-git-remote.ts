import { type Conversation, conversations, type KnownServers, knownServers } from "./conversations.ts";
import { GitFault } from "./git-fault.ts";
import { isOid, parseCommit, parseTag } from "./git-object.ts";
import { defaultGitLimits, type GitLimits, type GitObjects, type GitRef, type GitRemote } from "./git-remote.ts";
import type { GitTransport } from "./git-transport.ts";
import { walkTree } from "./git-tree.ts";
import { receivePack } from "./pack-file.ts";
import { openPack } from "./pack-objects.ts";
import { canFilter, mayGive, type PackRequest, packRequest, readPack, readRefs, refsRequest } from "./upload-pack.ts";

const maxTagChain = 10;

interface FetchSignals {
  /** Ends the fetch, also when it takes too long. */
  readonly bounded: AbortSignal;
  /** Ends what is done with the fetched objects, too. */
  readonly signal: AbortSignal;
}

/**
 * A repository behind a transport, of which it disposes with itself.
 *
 * @param known of the process, over HTTP
 */
export function openGitRemote(
  transport: GitTransport,
  limits: GitLimits = defaultGitLimits,
  known: KnownServers = knownServers(),
): GitRemote {
  const talks = conversations(transport, limits, known);
  /** The conversation whose greeting `list` has answered (version 0): the next list needs a new one. */
  let listed: Conversation | undefined;

  const inTime = async <Result>(
    doing: "fetch" | "list",
    work: (bounded: AbortSignal) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> => {
    const timeout = AbortSignal.timeout(limits.timeoutMs);
    try {
      return await work(AbortSignal.any([signal, timeout]));
    } catch (error) {
      signal.throwIfAborted();
      if (!timeout.aborted) throw error;
      const late = transport.late?.[doing] ?? `${transport.url}: no answer within ${limits.timeoutMs} ms`;
      throw new GitFault("timeout", late, { cause: error });
    }
  };

  const list = async (conversation: Conversation, prefixes: readonly string[], signal: AbortSignal) => {
    const { greeting } = conversation;
    // A server may take the prefixes for a hint.
    const isWanted = ({ name }: GitRef): boolean =>
      prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix));
    if (greeting.version === 0) {
      listed = conversation;
      return greeting.refs.filter(isWanted);
    }
    const refs = await conversation.ask(refsRequest(greeting, prefixes), (reader) => readRefs(reader, limits), signal);
    return refs.filter(isWanted);
  };

  const fetchPack = async (conversation: Conversation, request: PackRequest, { bounded, signal }: FetchSignals) => {
    const { greeting } = conversation;
    const file = await conversation.ask(
      packRequest(greeting, request),
      (reader) => receivePack(readPack(reader, greeting), limits),
      bounded,
    );
    // A server of version 0 has no more to say after a pack.
    if (greeting.version === 0) talks.end();
    return await openPack(file, limits, bounded, signal);
  };

  const fetchShallow = async (
    conversation: Conversation,
    wants: readonly string[],
    folders: readonly string[] | undefined,
    signals: FetchSignals,
  ): Promise<GitObjects> => {
    const { greeting } = conversation;
    const request = { wants, isShallow: true };
    if (folders === undefined || !canFilter(greeting)) return await fetchPack(conversation, request, signals);
    await using opened = new AsyncDisposableStack();
    const withoutBlobs = opened.use(await fetchPack(conversation, { ...request, withoutBlobs: true }, signals));
    const files = await filesOf(withoutBlobs, wants, folders, signals.bounded);
    if (files.length > 0) {
      const blobs = opened.use(await fetchPack(conversation, { wants: files, isShallow: false }, signals));
      return bothOf(withoutBlobs, blobs, opened.move());
    }
    opened.move();
    return withoutBlobs;
  };

  return {
    list: (prefixes, signal) =>
      inTime(
        "list",
        (bounded) => {
          if (listed !== undefined) talks.end();
          listed = undefined;
          return talks.converse((conversation) => list(conversation, prefixes, bounded), bounded);
        },
        signal,
      ),
    fetch: (wants, { folders, within = [] }, signal) =>
      inTime(
        "fetch",
        async (bounded) => {
          for (const oid of [...wants, ...within]) if (!isOid(oid)) throw missing([oid]);
          const asked = { history: false };
          const signals = { bounded, signal };
          const fetchHistory = (conversation: Conversation): Promise<GitObjects> => {
            asked.history = true;
            return fetchPack(conversation, { wants: within, isShallow: false }, signals);
          };
          const fetchNow = (conversation: Conversation): Promise<GitObjects> => {
            const isRefused = !mayGive(conversation.greeting, wants);
            if (isRefused && within.length > 0) return fetchHistory(conversation);
            if (isRefused) throw missing(wants);
            return fetchShallow(conversation, wants, folders, signals);
          };
          try {
            return await withAll(await talks.converse(fetchNow, bounded), wants);
          } catch (error) {
            if (asked.history || within.length === 0) throw error;
            if (!(error instanceof GitFault) || error.reason !== "missing") throw error;
          }
          return await withAll(await talks.converse(fetchHistory, bounded), wants);
        },
        signal,
      ),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  };
}

async function withAll(objects: GitObjects, wants: readonly string[]): Promise<GitObjects> {
  const absent = wants.filter((oid) => !objects.has(oid));
  if (absent.length === 0) return objects;
  await objects[Symbol.asyncDispose]();
  throw missing(absent);
}

/** The files in some folders of the commits, tags or trees that were asked for, each once. */
async function filesOf(
  objects: GitObjects,
  wants: readonly string[],
  folders: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const files = new Set<string>();
  for (const want of wants) {
    const tree = await treeOf(objects, want);
    if (tree === undefined) continue;
    // Where submodules come from is told at the root.
    for await (const { type, oid } of walkTree(objects, tree, { folders: [...folders, ".gitmodules"], signal })) {
      if (type !== "directory" && type !== "submodule" && !objects.has(oid)) files.add(oid);
    }
  }
  return [...files];
}

async function treeOf(objects: GitObjects, oid: string): Promise<string | undefined> {
  let at = oid;
  for (let tags = 0; tags <= maxTagChain; tags++) {
    const { type, bytes } = await objects.read(at);
    if (type === "commit") return parseCommit(bytes).tree;
    if (type === "tree") return at;
    if (type === "blob") return undefined;
    at = parseTag(bytes).object;
  }
  throw new GitFault("too-large", `tag ${oid} points to a tag more than ${maxTagChain} times`);
}

function bothOf(first: GitObjects, second: GitObjects, owned: AsyncDisposableStack): GitObjects {
  return {
    packedBytes: first.packedBytes + second.packedBytes,
    has: (oid) => first.has(oid) || second.has(oid),
    read: (oid) => (second.has(oid) ? second.read(oid) : first.read(oid)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function missing(oids: readonly string[]): GitFault {
  const [first = ""] = oids;
  const shown = isOid(first) ? first : JSON.stringify(first.slice(0, 100));
  return new GitFault("missing", `object ${shown} is not in the repository, or the git server does not give it`);
}
