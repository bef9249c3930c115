import { z } from "zod";
import { inWords } from "../../git-hosts/ask-host.ts";
import { gitlabProject, gitlabSegment } from "../../git-hosts/gitlab-project.ts";
import { escapedValue } from "../../git-hosts/repository-address.ts";
import { requiredCommitStatus, statusOfEvent } from "../git/commit-of-event.ts";
import type { MakeProvider } from "../provider.ts";

const states = { info: "success", error: "failed", unknown: "can't convert to gitlab state" };
const Text = z.string().nullish();
const Statuses = z.array(z.object({ sha: Text, status: Text, name: Text, description: Text })).nullable();

/** Commit statuses on GitLab. A status that the commit already has is not sent again. */
export const gitlab: MakeProvider = (settings, parts) => {
  const project = gitlabProject(settings, parts);
  const name = requiredCommitStatus(settings.commitStatus);
  return {
    async post(event, signal) {
      const status = statusOfEvent(event, states);
      if (status === undefined) return;
      const { commit, state, description } = status;
      const path = `repository/commits/${gitlabSegment(commit)}/statuses?name=${escapedValue(name)}`;
      const statuses = await inWords("unable to list commit status", signal, () =>
        project.ask({ method: "GET", path, answer: Statuses }, signal),
      );
      const isKnown = statuses?.some(
        (each) =>
          each.sha === commit && each.status === state && each.description === description && each.name === name,
      );
      if (isKnown === true) return;
      const body = { state, name, description };
      await project.ask(
        { method: "POST", path: `statuses/${gitlabSegment(commit)}`, body, answer: z.unknown() },
        signal,
      );
    },
  };
};
