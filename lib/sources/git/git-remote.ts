import type { GitObject } from "./git-object.ts";

/** A ref of the remote: `refs/heads/main`, `HEAD`. */
export interface GitRef {
  readonly name: string;
  /** The object that it names: of an annotated tag the tag object. */
  readonly oid: string;
  /** The object, usually a commit, that an annotated tag finally points to. */
  readonly peeled?: string;
  /** The ref that a symbolic ref such as `HEAD` points to. */
  readonly symref?: string;
}

export interface FetchOptions {
  /**
   * Folders, without slash at either end, whose files are wanted. A server that knows filters sends only those, and the files of
   * the folders on the way to them; any other server sends all.
   */
  readonly folders?: readonly string[];
  /** Objects of refs in whose history the wants are, for a server that does not give an object that no ref names. */
  readonly within?: readonly string[];
}

/**
 * A repository on a server. Every method throws a `GitFault`, or the reason that `signal` was aborted with. Not for several calls
 * at the same time: over ssh they share a channel.
 */
export interface GitRemote extends AsyncDisposable {
  /** The refs whose names begin with one of these texts, in one request. An empty repository has none. */
  list(prefixes: readonly string[], signal: AbortSignal): Promise<readonly GitRef[]>;
  /**
   * The objects with these ids, with all that they lead to, without the history of commits unless the server cannot leave it out.
   * The caller disposes of them. The signal also ends reads of them.
   */
  fetch(wants: readonly string[], options: FetchOptions, signal: AbortSignal): Promise<GitObjects>;
}

/** Fetched objects, in a temporary file that dispose removes. The SHA-1 of each object has been checked. */
export interface GitObjects extends AsyncDisposable {
  /** How many bytes they take on the disk. */
  readonly packedBytes: number;
  has(oid: string): boolean;
  /** Throws a `GitFault` `missing` if the object was not fetched. */
  read(oid: string): Promise<GitObject>;
}

/** The limits of a repository. */
export interface GitLimits {
  /** For one `list` or `fetch`. */
  readonly timeoutMs: number;
  /** The limit for the answer to `list`, and for the refs that a server without protocol version 2 sends first. */
  readonly maxRefBytes: number;
  /** The limit for the refs that `list` answers. */
  readonly maxRefs: number;
  readonly maxPackBytes: number;
  readonly maxObjects: number;
  /** The limit for one object, unpacked. */
  readonly maxObjectBytes: number;
  /** The limit for all objects that are unpacked to read a pack, including the bases of others. */
  readonly maxUnpackedBytes: number;
  /** The limit for a chain of objects that are stored as differences to each other. */
  readonly maxDeltaDepth: number;
}

export const defaultGitLimits: GitLimits = {
  timeoutMs: 60_000,
  maxRefBytes: 64 * 1024 * 1024,
  maxRefs: 100_000,
  maxPackBytes: 256 * 1024 * 1024,
  maxObjects: 1_000_000,
  maxObjectBytes: 64 * 1024 * 1024,
  maxUnpackedBytes: 4 * 1024 * 1024 * 1024,
  maxDeltaDepth: 4_095,
};
