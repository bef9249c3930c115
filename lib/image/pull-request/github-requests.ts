import { z } from "zod";
import { githubJson, githubRepository } from "../../git-hosts/github-repository.ts";
import type { HostParts, HostSettings } from "../../git-hosts/host-settings.ts";
import { escapedValue, repositoryAddress } from "../../git-hosts/repository-address.ts";
import type { OpenRequest, RequestHost } from "./request-host.ts";

const Side = z.object({ ref: z.string(), repo: z.object({ id: z.int() }).nullish() });
const Pull = z.object({
  number: z.int().positive(),
  html_url: z.string(),
  title: z.string(),
  body: z.string().nullish(),
  head: Side,
  base: Side,
});

/** Pull requests on GitHub, or on a GitHub Enterprise Server. Throws where the login is incomplete. */
export function githubRequests(settings: HostSettings, parts: HostParts): RequestHost {
  const repository = githubRepository(settings, parts);
  const connect = (signal: AbortSignal) => repository.connect({ hasLogin: false }, signal);
  const [owner = ""] = repositoryAddress(settings.address).id.split("/");
  return {
    async find({ base, head }, signal) {
      const { ask } = await connect(signal);
      const asked = `head=${escapedValue(`${owner}:${head}`)}&base=${escapedValue(base)}`;
      const path = `pulls?state=open&${asked}&per_page=100`;
      const pulls = await ask({ method: "GET", path, answer: z.array(Pull).nullable() });
      const found = pulls?.find(
        (each) => each.head.ref === head && each.base.ref === base && each.head.repo?.id === each.base.repo?.id,
      );
      return found === undefined ? undefined : requestOf(found);
    },
    async create({ base, head }, { body, title }, signal) {
      const { ask } = await connect(signal);
      const json = githubJson({ title, head, base, body });
      return requestOf(await ask({ method: "POST", path: "pulls", body: json, answer: Pull }));
    },
    async change(number, { body, title }, signal) {
      const { ask } = await connect(signal);
      await ask({ method: "PATCH", path: `pulls/${number}`, body: githubJson({ title, body }), answer: z.unknown() });
    },
  };
}

function requestOf({ number, html_url: url, title, body }: z.infer<typeof Pull>): OpenRequest {
  return { number, url, title, body: body ?? "" };
}
