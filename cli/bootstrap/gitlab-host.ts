import { z } from "zod";
import type { Http } from "../../lib/core/ports/http.ts";
import { gitlabSegment } from "../../lib/git-hosts/gitlab-project.ts";
import type { DeployKey, Ensured, GitHost, Hook, HostAccess, TeamAccess, WantedRepository } from "./git-host.ts";
import { hostApi } from "./host-api.ts";
import { isSameKey } from "./ssh-key-line.ts";

const User = z.object({ username: z.string() });
const Group = z.object({ id: z.number() });
const Project = z.object({
  visibility: z.string(),
  shared_with_groups: z.array(z.object({ group_id: z.number() })).nullish(),
});
const Key = z.object({ title: z.string(), key: z.string(), can_push: z.boolean() });
const ExistingHook = z.object({ url: z.string(), push_events: z.boolean() });
const nothing = z.unknown();

/** What a group may do, by flux's names: GitLab's numbers. */
const levels: Readonly<Record<string, number>> = { pull: 20, triage: 10, push: 30, maintain: 40 };

const scope = 'the scope "api" and the role Maintainer';

/** A project on GitLab, theirs or one of your own. */
export function gitlabHost(access: HostAccess, http: Http): GitHost {
  const { isPersonal, origin, token, ca } = access;
  const full = `${access.owner}/${access.repository}`;
  const [name = "", ...groups] = full.split("/").toReversed();
  const owner = groups.toReversed().join("/");
  const api = hostApi(
    {
      ...{ name: "GitLab", token, tokenName: "GITLAB_TOKEN", ca, api: `${origin}/api/v4/` },
      headers: { accept: "application/json", "private-token": token },
    },
    http,
  );
  const at = `projects/${gitlabSegment(full)}`;

  const findProject = (signal: AbortSignal): Promise<z.infer<typeof Project> | undefined> =>
    api.find({ method: "GET", path: at, answer: Project, doing: `read the project ${full}`, needs: scope }, signal);

  const create = async (isPrivate: boolean, signal: AbortSignal): Promise<void> => {
    const namespace = isPersonal ? {} : { namespace_id: (await findGroup(owner, signal)).id };
    if (isPersonal) await checkUser(signal);
    const visibility = isPrivate ? "private" : "public";
    await api.ask(
      {
        ...{ method: "POST", path: "projects", answer: nothing },
        body: { name, path: name, visibility, ...namespace },
        doing: `create the project ${full}`,
        needs: `the scope "api", and the right to create projects in ${owner}`,
      },
      signal,
    );
  };

  const findGroup = async (path: string, signal: AbortSignal): Promise<z.infer<typeof Group>> => {
    const question = { path: `groups/${gitlabSegment(path)}`, doing: `read the group ${path}`, needs: scope };
    const group = await api.find({ ...question, method: "GET", answer: Group }, signal);
    if (group !== undefined) return group;
    throw new Error(
      `GitLab has no group ${path} that the token of GITLAB_TOKEN may see: create it, or give --personal if it is a user`,
    );
  };

  const checkUser = async (signal: AbortSignal): Promise<void> => {
    const question = { method: "GET", path: "user", answer: User, doing: "name its user", needs: scope } as const;
    const { username } = await api.ask(question, signal);
    if (username.toLowerCase() === owner.toLowerCase()) return;
    throw new Error(
      `the token of GITLAB_TOKEN is of the user ${username}, and --owner is ${owner}: give --owner=${username}, or a token of ${owner}`,
    );
  };

  return {
    name: "GitLab",
    receiverType: "gitlab",
    repository: full,
    async ensureRepository({ isPrivate, reconcile }: WantedRepository, signal): Promise<Ensured> {
      const found = await findProject(signal);
      if (found === undefined) {
        await create(isPrivate, signal);
        return "created";
      }
      const visibility = isPrivate ? "private" : "public";
      if (!reconcile || found.visibility === visibility) return "present";
      const doing = `make the project ${full} ${visibility}`;
      await api.ask({ method: "PUT", path: at, body: { visibility }, answer: nothing, doing, needs: scope }, signal);
      return "changed";
    },
    async ensureTeam({ team, access: wanted }: TeamAccess, signal): Promise<Ensured> {
      const level = levels[wanted];
      if (level === undefined) {
        const choices = Object.keys(levels).join(", ");
        throw new Error(`--team ${team}:${wanted}: there is no access ${wanted} on GitLab, can be: ${choices}`);
      }
      const { id } = await findGroup(team, signal);
      const project = await findProject(signal);
      if (project?.shared_with_groups?.some(({ group_id }) => group_id === id) === true) return "present";
      const body = { group_id: id, group_access: level };
      const doing = `share ${full} with the group ${team}`;
      await api.ask({ method: "POST", path: `${at}/share`, body, answer: nothing, doing, needs: scope }, signal);
      return "created";
    },
    async ensureDeployKey({ title, key, isReadOnly }: DeployKey, signal): Promise<Ensured> {
      const path = `${at}/deploy_keys`;
      const doing = `add the deploy key ${title} to ${full}`;
      const found = await api.list({ path, entry: Key, doing, needs: scope }, signal);
      const same = found.find((each) => isSameKey(each.key, key));
      if (same !== undefined) {
        if (same.can_push !== isReadOnly) return "present";
        const [is, wanted] = isReadOnly ? ["may write", "read-only"] : ["is read-only", "to write"];
        throw new Error(
          `the deploy key ${same.title} of ${full} ${is} and is wanted ${wanted}: delete it on GitLab and run the command again`,
        );
      }
      const body = { title, key, can_push: !isReadOnly };
      await api.ask({ method: "POST", path, body, answer: nothing, doing, needs: scope }, signal);
      return "created";
    },
    async ensureHook({ url, secret }: Hook, signal): Promise<Ensured> {
      const path = `${at}/hooks`;
      const doing = `add a webhook to ${full}`;
      const found = await api.list({ path, entry: ExistingHook, doing, needs: scope }, signal);
      if (found.some((each) => each.url === url && each.push_events)) return "present";
      const body = { url, token: secret, push_events: true };
      await api.ask({ method: "POST", path, body, answer: nothing, doing, needs: scope }, signal);
      return "created";
    },
  };
}
