import { z } from "zod";
import { giteaRepository } from "../../git-hosts/gitea-repository.ts";
import type { HostParts, HostSettings } from "../../git-hosts/host-settings.ts";
import type { OpenRequest, RequestHost } from "./request-host.ts";

const Side = z.object({ ref: z.string(), repo_id: z.int() });
const Pull = z.object({
  number: z.int().positive(),
  html_url: z.string(),
  title: z.string(),
  body: z.string().nullish(),
  head: Side,
  base: Side,
});

const perPage = 50;
/** Gitea lists the open pull requests of all branches. */
export const maxGiteaPages = 20;

/** Pull requests on Gitea or Forgejo. Throws where the login is incomplete. */
export function giteaRequests(settings: HostSettings, parts: HostParts): RequestHost {
  const repository = giteaRepository(settings, parts);
  return {
    async find({ base, head }, signal) {
      await repository.connect(signal);
      for (let page = 1; page <= maxGiteaPages; page++) {
        const path = `pulls?state=open&limit=${perPage}&page=${page}`;
        const pulls = (await repository.ask({ method: "GET", path, answer: z.array(Pull).nullable() }, signal)) ?? [];
        const found = pulls.find(
          (each) => each.head.ref === head && each.base.ref === base && each.head.repo_id === each.base.repo_id,
        );
        if (found !== undefined) return requestOf(found);
        // A server may give fewer on a page than it is asked for.
        if (pulls.length === 0) return undefined;
      }
      throw new Error(`more than ${maxGiteaPages} pages of open pull requests: close some of them`);
    },
    async create({ base, head }, { body, title }, signal) {
      const sent = { title, head, base, body };
      return requestOf(await repository.ask({ method: "POST", path: "pulls", body: sent, answer: Pull }, signal));
    },
    async change(number, { body, title }, signal) {
      const sent = { title, body };
      await repository.ask({ method: "PATCH", path: `pulls/${number}`, body: sent, answer: z.unknown() }, signal);
    },
  };
}

function requestOf({ number, html_url: url, title, body }: z.infer<typeof Pull>): OpenRequest {
  return { number, url, title, body: body ?? "" };
}
