import { GitFault } from "../../lib/sources/git/git-fault.ts";
import type { CommitAuthor, GitClone, SignCommit } from "../../lib/sources/git/write/git-clone.ts";

/** What the commit of a bootstrap is made of. */
export interface SyncCommit {
  readonly branch: string;
  readonly author: CommitAuthor;
  /** Follows the message; empty for none. */
  readonly appendix: string;
  readonly sign?: SignCommit | undefined;
}

/** Adds the commit to the clone, and answers its id. Nothing is sent. */
export function commitSync(
  clone: GitClone,
  files: ReadonlyMap<string, Uint8Array>,
  { author, appendix, sign }: SyncCommit,
  signal: AbortSignal,
): Promise<string> {
  const message = `Add Sluice sync manifests${appendix === "" ? "" : `\n\n${appendix}`}\n`;
  return clone.commit({ files, message, author, ...(sign === undefined ? {} : { sign }) }, signal);
}

/**
 * Pushes the commit. Answers false where the branch has moved since the clone was opened: nothing is pushed then.
 *
 * @throws Error with a line that says what the server refused and the mend
 */
export async function pushSync(clone: GitClone, { branch }: SyncCommit, signal: AbortSignal): Promise<boolean> {
  try {
    await clone.push([{ ref: `refs/heads/${branch}`, force: false }], { options: [] }, signal);
    return true;
  } catch (error) {
    if (!(error instanceof GitFault)) throw error;
    if (error.reason === "moved") return false;
    throw new Error(`the push to ${branch} failed: ${error.message}${mendOf(error, branch)}`, { cause: error });
  }
}

function mendOf({ message, reason }: GitFault, branch: string): string {
  if (/protect|GH006|GH013|pre-receive hook declined|not allowed to push/i.test(message)) {
    return `; the branch ${branch} is protected: let this login push to it, or give another --branch and merge it`;
  }
  if (reason === "authentication" || reason === "authorization") {
    return "; the login may read and not write: give one that may push";
  }
  return "";
}
