import { z } from "zod";
import { inWords } from "../../git-hosts/ask-host.ts";
import { githubJson, githubRepository } from "../../git-hosts/github-repository.ts";
import { escapedSegment } from "../../git-hosts/repository-address.ts";
import { requiredCommitStatus, statusOfEvent } from "../git/commit-of-event.ts";
import type { MakeProvider } from "../provider.ts";

const states = { info: "success", error: "failure", unknown: "can't convert to github state" };
const Statuses = z
  .array(z.object({ context: z.string().nullish(), state: z.string().nullish(), description: z.string().nullish() }))
  .nullable();

/** Commit statuses on GitHub. If the latest status of its context says the same, it is not sent again. */
export const github: MakeProvider = (settings, parts) => {
  const context = requiredCommitStatus(settings.commitStatus);
  const repository = githubRepository(settings, parts);
  return {
    async post(event, signal) {
      const { ask } = await repository.connect({ hasLogin: false }, signal);
      const status = statusOfEvent(event, states);
      if (status === undefined) return;
      const { state, description } = status;
      const commit = escapedSegment(status.commit);
      const statuses = await inWords("could not list commit statuses", signal, () =>
        ask({ method: "GET", path: `commits/${commit}/statuses?per_page=50`, answer: Statuses }),
      );
      const latest = statuses?.find(
        (each) => each.context === context && each.state != null && each.description != null,
      );
      if (latest?.state === state && latest.description === description) return;
      const body = githubJson({ state, description, context });
      await inWords("could not create commit status", signal, () =>
        ask({ method: "POST", path: `statuses/${commit}`, body, answer: z.unknown() }),
      );
    },
  };
};
