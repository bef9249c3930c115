/** Whether something was made, or was there as it is wanted. */
export type Ensured = "changed" | "created" | "present";

export interface WantedRepository {
  readonly isPrivate: boolean;
  /** Whether a repository that exists gets these settings, too. */
  readonly reconcile: boolean;
}

export interface DeployKey {
  readonly title: string;
  /** `ssh-ed25519 AAAA…`. */
  readonly key: string;
  readonly isReadOnly: boolean;
}

export interface Hook {
  readonly url: string;
  /** What signs the deliveries, or goes with them. */
  readonly secret: string;
}

/** A team of an organization, or a group, and what it may do. */
export interface TeamAccess {
  readonly team: string;
  readonly access: string;
}

/**
 * One repository on a host whose API knows repositories, deploy keys and webhooks. Each method can be repeated: what is there stays. Each
 * throws an Error with one clear line, in which the token is hidden, or the reason that the signal was aborted with.
 */
export interface GitHost {
  /** For people: `GitHub`. */
  readonly name: string;
  /** The type of Receiver that takes its deliveries. */
  readonly receiverType: "github" | "gitlab";
  /** `acme/fleet`. */
  readonly repository: string;
  ensureRepository(wanted: WantedRepository, signal: AbortSignal): Promise<Ensured>;
  ensureTeam(access: TeamAccess, signal: AbortSignal): Promise<Ensured>;
  ensureDeployKey(key: DeployKey, signal: AbortSignal): Promise<Ensured>;
  ensureHook(hook: Hook, signal: AbortSignal): Promise<Ensured>;
}

/** How the API of a host is reached. */
export interface HostAccess {
  readonly owner: string;
  /** On GitLab with the groups before it. */
  readonly repository: string;
  /** Whether the owner is a user; otherwise an organization or group. */
  readonly isPersonal: boolean;
  /** `https://github.com`. */
  readonly origin: string;
  readonly token: string;
  /** PEM of the authority of the host. */
  readonly ca?: string | undefined;
}

/** Where a repository is cloned from: with a token, and with a deploy key unless another host serves ssh. */
export function repositoryUrls({ owner, repository, origin }: Pick<HostAccess, "origin" | "owner" | "repository">): {
  readonly https: URL;
  readonly ssh: URL;
} {
  const path = `${owner}/${repository}`;
  return {
    https: new URL(`${origin}/${path}.git`),
    ssh: new URL(`ssh://git@${new URL(origin).hostname}/${path}`),
  };
}
