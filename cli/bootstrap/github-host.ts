import { z } from "zod";
import type { Http } from "../../lib/core/ports/http.ts";
import { escapedSegment } from "../../lib/git-hosts/repository-address.ts";
import type { DeployKey, Ensured, GitHost, Hook, HostAccess, TeamAccess, WantedRepository } from "./git-host.ts";
import { hostApi } from "./host-api.ts";
import { isSameKey } from "./ssh-key-line.ts";

const User = z.object({ login: z.string() });
const Repository = z.object({ private: z.boolean() });
const Key = z.object({ title: z.string(), key: z.string(), read_only: z.boolean() });
const ExistingHook = z.object({ active: z.boolean(), config: z.object({ url: z.string().optional() }) });
const nothing = z.unknown();

/** What a team may do, by flux's names and GitHub's. */
const permissions: Readonly<Record<string, string>> = {
  pull: "pull",
  triage: "triage",
  push: "push",
  maintain: "maintain",
  admin: "admin",
};

const forRepositories =
  'the scope "repo" (classic token) or the permission "Administration: write" (fine-grained token)';
const forHooks = 'the scope "admin:repo_hook" (classic token) or the permission "Webhooks: write" (fine-grained token)';
const forReading = 'the scope "repo" (classic token) or the permission "Metadata: read" (fine-grained token)';
const forTeams = 'the scopes "repo" and "read:org" (classic token)';

/** A repository on GitHub or on a GitHub Enterprise Server. */
export function githubHost(access: HostAccess, http: Http): GitHost {
  const { owner, repository, isPersonal, origin, token, ca } = access;
  const full = `${owner}/${repository}`;
  const host = new URL(origin).host;
  const api = hostApi(
    {
      ...{ name: "GitHub", token, tokenName: "GITHUB_TOKEN", ca },
      api: host === "github.com" ? "https://api.github.com/" : `${origin}/api/v3/`,
      headers: {
        accept: "application/vnd.github+json",
        authorization: `Bearer ${token}`,
        "x-github-api-version": "2022-11-28",
      },
    },
    http,
  );
  const at = `repos/${escapedSegment(owner)}/${escapedSegment(repository)}`;

  const create = async (isPrivate: boolean, signal: AbortSignal): Promise<void> => {
    if (isPersonal) await checkUser(signal);
    await api.ask(
      {
        method: "POST",
        path: isPersonal ? "user/repos" : `orgs/${escapedSegment(owner)}/repos`,
        body: { name: repository, private: isPrivate },
        answer: Repository,
        doing: `create the repository ${full}`,
        needs: isPersonal
          ? forRepositories
          : `${forRepositories} of the organization ${owner}; of a user, give --personal`,
      },
      signal,
    );
  };

  const checkUser = async (signal: AbortSignal): Promise<void> => {
    const question = { method: "GET", path: "user", answer: User, doing: "name its user", needs: forReading } as const;
    const { login } = await api.ask(question, signal);
    if (login.toLowerCase() === owner.toLowerCase()) return;
    throw new Error(
      `the token of GITHUB_TOKEN is of the user ${login}, and --owner is ${owner}: give --owner=${login}, or a token of ${owner}`,
    );
  };

  return {
    name: "GitHub",
    receiverType: "github",
    repository: full,
    async ensureRepository({ isPrivate, reconcile }: WantedRepository, signal): Promise<Ensured> {
      const doing = `read the repository ${full}`;
      const found = await api.find({ method: "GET", path: at, answer: Repository, doing, needs: forReading }, signal);
      if (found === undefined) {
        await create(isPrivate, signal);
        return "created";
      }
      if (!reconcile || found.private === isPrivate) return "present";
      await api.ask(
        {
          ...{ method: "PATCH", path: at, body: { private: isPrivate }, answer: nothing },
          doing: `make the repository ${full} ${isPrivate ? "private" : "public"}`,
          needs: forRepositories,
        },
        signal,
      );
      return "changed";
    },
    async ensureTeam({ team, access: wanted }: TeamAccess, signal): Promise<Ensured> {
      const permission = permissions[wanted];
      if (permission === undefined) {
        const choices = Object.keys(permissions).join(", ");
        throw new Error(`--team ${team}:${wanted}: there is no access ${wanted} on GitHub, can be: ${choices}`);
      }
      const path = `orgs/${escapedSegment(owner)}/teams/${escapedSegment(team)}/${at}`;
      const doing = `give the team ${team} access to ${full}`;
      const question = { path, doing, needs: forTeams, answer: nothing };
      if ((await api.find({ ...question, method: "GET" }, signal)) !== undefined) return "present";
      await api.ask({ ...question, method: "PUT", body: { permission } }, signal);
      return "created";
    },
    async ensureDeployKey({ title, key, isReadOnly }: DeployKey, signal): Promise<Ensured> {
      const path = `${at}/keys`;
      const doing = `add the deploy key ${title} to ${full}`;
      const found = await api.list({ path, entry: Key, doing, needs: forRepositories }, signal);
      const same = found.find((each) => isSameKey(each.key, key));
      if (same !== undefined) {
        if (same.read_only === isReadOnly) return "present";
        const [is, wanted] = isReadOnly ? ["may write", "read-only"] : ["is read-only", "to write"];
        throw new Error(
          `the deploy key ${same.title} of ${full} ${is} and is wanted ${wanted}: delete it on GitHub and run the command again`,
        );
      }
      const body = { title, key, read_only: isReadOnly };
      await api.ask({ method: "POST", path, body, answer: nothing, doing, needs: forRepositories }, signal);
      return "created";
    },
    async ensureHook({ url, secret }: Hook, signal): Promise<Ensured> {
      const path = `${at}/hooks`;
      const doing = `add a webhook to ${full}`;
      const found = await api.list({ path, entry: ExistingHook, doing, needs: forHooks }, signal);
      if (found.some(({ active, config }) => active && config.url === url)) return "present";
      const config = { url, content_type: "json", secret, insecure_ssl: "0" };
      const body = { name: "web", active: true, events: ["push"], config };
      await api.ask({ method: "POST", path, body, answer: nothing, doing, needs: forHooks }, signal);
      return "created";
    },
  };
}
