import type { Outbound } from "../lib/core/ports/http.ts";
import { type GitHost, type HostAccess, repositoryUrls } from "./bootstrap/git-host.ts";
import { githubHost } from "./bootstrap/github-host.ts";
import { gitlabHost } from "./bootstrap/gitlab-host.ts";
import { basicAuthorization } from "./bootstrap/open-branch.ts";
import { type BootstrapPlan, bootstrapCluster } from "./bootstrap-cluster.ts";
import { authority, withHost } from "./bootstrap-git.ts";
import { type BootstrapHostOptions, checkOptions, hostOrigin } from "./bootstrap-options.ts";
import { keySecret, tokenSecret } from "./bootstrap-secret.ts";
import { hidingValues } from "./hiding-values.ts";
import { type Surroundings, withCluster } from "./session.ts";

const hosts = {
  github: { name: "GitHub", tokenName: "GITHUB_TOKEN", open: githubHost },
  gitlab: { name: "GitLab", tokenName: "GITLAB_TOKEN", open: gitlabHost },
} as const satisfies Readonly<
  Record<string, { name: string; tokenName: string; open: (access: HostAccess, http: Outbound) => GitHost }>
>;

/** `bootstrap github` and `bootstrap gitlab`: makes the repository, the deploy key and the webhook, too. */
export async function bootstrapOnHost(
  which: keyof typeof hosts,
  options: BootstrapHostOptions,
  surroundings: Surroundings,
): Promise<void> {
  const { tokenName, open, name } = hosts[which];
  const checked = checkOptions(options);
  const { owner = "", repository = "", tokenAuth, sshHostname, secretName } = options;
  if (owner === "") throw new Error("owner is required: give --owner");
  if (repository === "") throw new Error("repository is required: give --repository");
  const token = surroundings.env[tokenName]?.trim() ?? "";
  if (token === "") throw new Error(`a token of ${name} is required: set the variable ${tokenName} to it`);
  const origin = hostOrigin(options);
  const ca = await authority(options);
  const access = { owner, repository, isPersonal: options.personal === true, origin, token, ca };
  const wanted = { isPrivate: isPrivate(options), reconcile: options.reconcile === true };
  const teams = (options.team ?? []).map((text) => {
    const [team = "", level = "maintain"] = text.split(":");
    return { team, access: level };
  });
  const urls = repositoryUrls(access);
  const url = urls.https;
  const isToken = tokenAuth === true;
  const ssh = sshHostname === undefined ? urls.ssh : withHost(urls.ssh, sshHostname);
  const data = { username: "git", password: token, ...(ca === undefined ? {} : { "ca.crt": ca }) };
  const plan: BootstrapPlan = {
    ...{ options, checked, syncUrl: isToken ? url : ssh, confirmKey: undefined },
    onHost: (outbound) => ({
      host: open(access, outbound),
      wanted,
      teams,
      isKeyReadOnly: options.readWriteKey !== true,
    }),
    secret: (session) => {
      const secret = secretName ?? session.namespace;
      return isToken ? tokenSecret(secret, data, session) : keySecret(secret, ssh, options, session);
    },
    access: () => ({
      ...{ kind: "http", url, tls: ca === undefined ? {} : { ca } },
      authorization: basicAuthorization("git", token),
    }),
    loginMend: `check that the token of ${tokenName} may read and write the content of ${owner}/${repository}`,
  };
  await hidingValues([token, options.gpgPassphrase ?? "", options.sshSigningPassword ?? ""], () =>
    withCluster(options, surroundings, (session) => bootstrapCluster(plan, session)),
  );
}

function isPrivate({ private: wanted, visibility }: BootstrapHostOptions): boolean {
  if (visibility === undefined || visibility === "private") return wanted;
  if (visibility === "public") return false;
  throw new Error(`--visibility ${visibility} is not supported: use private or public`);
}
