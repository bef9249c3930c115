import { z } from "zod";
import { gitlabProject } from "../../git-hosts/gitlab-project.ts";
import type { HostParts, HostSettings } from "../../git-hosts/host-settings.ts";
import { escapedValue } from "../../git-hosts/repository-address.ts";
import type { OpenRequest, RequestHost } from "./request-host.ts";

const Merge = z.object({
  iid: z.int().positive(),
  web_url: z.string(),
  title: z.string(),
  description: z.string().nullish(),
  source_branch: z.string(),
  target_branch: z.string(),
  source_project_id: z.int().nullish(),
  target_project_id: z.int().nullish(),
});

/** Merge requests on GitLab. Throws where the login is incomplete. */
export function gitlabRequests(settings: HostSettings, parts: HostParts): RequestHost {
  const project = gitlabProject(settings, parts);
  return {
    async find({ base, head }, signal) {
      const asked = `source_branch=${escapedValue(head)}&target_branch=${escapedValue(base)}`;
      const path = `merge_requests?state=opened&${asked}&per_page=100`;
      const all = await project.ask({ method: "GET", path, answer: z.array(Merge).nullable() }, signal);
      const found = all?.find(
        (each) =>
          each.source_branch === head &&
          each.target_branch === base &&
          each.source_project_id === each.target_project_id,
      );
      return found === undefined ? undefined : requestOf(found);
    },
    async create({ base, head }, { body, title }, signal) {
      const sent = { source_branch: head, target_branch: base, title, description: body };
      return requestOf(
        await project.ask({ method: "POST", path: "merge_requests", body: sent, answer: Merge }, signal),
      );
    },
    async change(number, { body, title }, signal) {
      const sent = { title, description: body };
      await project.ask({ method: "PUT", path: `merge_requests/${number}`, body: sent, answer: z.unknown() }, signal);
    },
  };
}

function requestOf({ iid: number, web_url: url, title, description }: z.infer<typeof Merge>): OpenRequest {
  return { number, url, title, body: description ?? "" };
}
