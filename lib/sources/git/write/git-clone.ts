/** Who a commit is by, and when, in milliseconds since 1970. */
export interface CommitAuthor {
  /** May be empty. */
  readonly name: string;
  readonly email: string;
  readonly at: number;
}

/** Signs the bytes of a commit object that has no signature yet. Answers the armoured text for its header `gpgsig`. */
export type SignCommit = (commit: Uint8Array, signal: AbortSignal) => Promise<string>;

/** A file or link of the commit that a clone is at. */
export interface CloneFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly type: "executable" | "file" | "symlink";
  readonly oid: string;
  /** For a link: its target. */
  read(): Promise<Uint8Array>;
}

export interface NewCommit {
  /** New content by path from the root; undefined: the file is removed. A file that is there keeps its mode. */
  readonly files: ReadonlyMap<string, Uint8Array | undefined>;
  /** Written as it is. */
  readonly message: string;
  /** Author and committer. */
  readonly author: CommitAuthor;
  readonly sign?: SignCommit;
}

/** A reference of the server that a push moves to the commit that the clone is at. */
export interface PushedRef {
  /** `refs/heads/main`. */
  readonly ref: string;
  /**
   * Whether the reference may move to a commit that does not follow the one that it names. Even so nothing is lost that the clone has
   * not seen: the reference must still name the commit that the server listed when the clone was opened.
   */
  readonly force: boolean;
}

export interface PushOptions {
  /** `key=value`, or `key`. Left out where the server takes none. */
  readonly options: readonly string[];
}

/**
 * One commit of a repository with its files, to which commits are added in memory and then pushed. Every method throws a `GitFault`,
 * or the reason that `signal` was aborted with. Not for several calls at the same time.
 */
export interface GitClone extends AsyncDisposable {
  /** The commit that the clone is at, with those that were added; undefined in an empty repository. */
  readonly head: string | undefined;
  /** The files and links below a folder (or the one file) of `head`, by path from the root, in the order of git's trees. */
  files(folder: string, signal: AbortSignal): AsyncIterable<CloneFile>;
  /**
   * Adds a commit, and answers its id. Nothing is sent. Files that change nothing make no commit: the answer is `head`. A path that a
   * checkout would refuse, or that leads through a link, is a `GitFault` `tree` that names it.
   */
  commit(commit: NewCommit, signal: AbortSignal): Promise<string>;
  /**
   * Moves these references of the server to `head`, with everything they need, all or none where the server can do that. Throws a
   * `GitFault` with one of these reasons:
   * - `moved`: a reference has moved since the clone was opened (`non-fast-forward update: refs/heads/main`); nothing is changed.
   * - `refused`: the server did not take it, with its words (`command error on refs/heads/main: pre-receive hook declined`); or a
   *   reference would move without force to a commit that is not known to follow the one it names.
   */
  push(refs: readonly PushedRef[], options: PushOptions, signal: AbortSignal): Promise<void>;
}
