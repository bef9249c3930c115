import { z } from "zod";
import { inWords } from "../../git-hosts/ask-host.ts";
import { giteaRepository } from "../../git-hosts/gitea-repository.ts";
import { escapedSegment } from "../../git-hosts/repository-address.ts";
import { requiredCommitStatus, statusOfEvent } from "../git/commit-of-event.ts";
import type { MakeProvider } from "../provider.ts";

const states = {
  info: "success",
  error: "failure",
  progressing: "pending",
  unknown: "can't convert to gitea state",
};
const Text = z.string().nullish();
const Statuses = z.array(z.object({ context: Text, status: Text, description: Text })).nullable();

/** Commit statuses on Gitea. If the latest status of its context says the same, it is not sent again. */
export const gitea: MakeProvider = (settings, parts) => {
  const context = requiredCommitStatus(settings.commitStatus);
  const repository = giteaRepository(settings, parts);
  return {
    async post(event, signal) {
      await repository.connect(signal);
      const status = statusOfEvent(event, states);
      if (status === undefined) return;
      const { state, description } = status;
      const commit = escapedSegment(status.commit);
      const path = `commits/${commit}/statuses?limit=50&page=1`;
      const statuses = await inWords("could not list commit statuses", signal, () =>
        repository.ask({ method: "GET", path, saysJson: true, answer: Statuses }, signal),
      );
      const latest = statuses?.find(
        (each) => each.context === context && (each.status ?? "") !== "" && (each.description ?? "") !== "",
      );
      if (latest?.status === state && latest.description === description) return;
      const body = { state, target_url: "", description, context };
      await repository.ask({ method: "POST", path: `statuses/${commit}`, body, answer: z.unknown() }, signal);
    },
  };
};
