/** A pull request that is open, or GitLab's merge request. */
export interface OpenRequest {
  /** Its number in the repository. */
  readonly number: number;
  /** Its page. */
  readonly url: string;
  readonly title: string;
  readonly body: string;
}

/** From which branch to which. Both are in the same repository. */
export interface Branches {
  readonly head: string;
  readonly base: string;
}

export interface RequestText {
  readonly title: string;
  readonly body: string;
}

/** The pull requests of one repository on one host. Each method throws in the words of the host, or the reason that `signal` was aborted with. */
export interface RequestHost {
  /** The open one between these branches; undefined if there is none. */
  find(branches: Branches, signal: AbortSignal): Promise<OpenRequest | undefined>;
  create(branches: Branches, text: RequestText, signal: AbortSignal): Promise<OpenRequest>;
  change(number: number, text: RequestText, signal: AbortSignal): Promise<void>;
}
