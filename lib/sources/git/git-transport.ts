/** The server's output, in pieces of any length. Over a channel it does not end with an answer. */
export type GitBytes = AsyncIterator<Uint8Array, unknown, undefined>;

/** What git runs on the server: `git-upload-pack` for reading, `git-receive-pack` for writing. */
export type GitService = "git-receive-pack" | "git-upload-pack";

/**
 * The way to a {@link GitService} of one repository, which http and ssh give alike. Every method throws a `GitFault`, or the reason that
 * `signal` was aborted with.
 */
export interface GitTransport extends AsyncDisposable {
  /** The repository, for messages: without user, password and query. */
  readonly url: string;
  /** Flux's words for a look at the refs, and for a fetch or a push, that takes too long. */
  readonly late?: { readonly list: string; readonly fetch: string };
  /**
   * Whether each request stands alone (smart HTTP), so that a request may come before any greeting. Otherwise (ssh) all answers
   * follow each other in one channel.
   */
  readonly isStateless: boolean;
  /**
   * For smart HTTP: stands for the server and this object's login, trust and proxy, without showing them. What the server greets with
   * is remembered under it, so no other object can have put words into the server's mouth.
   */
  readonly knownAs?: string;
  /**
   * Begins a conversation, over ssh with a new channel, and asks for protocol version 2, which is there for reading only. Answers what the server says first: its
   * capabilities (version 2) or its refs (versions 0 and 1).
   */
  greet(signal: AbortSignal): Promise<GitBytes>;
  /**
   * Sends one request in the version that the server greeted with, and answers what it says to it: over a channel always the
   * same object that `greet` has answered.
   */
  send(request: Uint8Array, version: GitVersion, signal: AbortSignal): Promise<GitBytes>;
}

/** Version 1 is version 0 with a line before it. */
export type GitVersion = 0 | 2;
