import { z } from "zod";
import { inWords } from "../../git-hosts/ask-host.ts";
import { gitlabProject } from "../../git-hosts/gitlab-project.ts";
import { changeRequestComment, changeRequestNumber, requiredProviderUid } from "../git/change-request.ts";
import type { MakeProvider } from "../provider.ts";

const Notes = z
  .array(z.object({ id: z.int(), body: z.string().nullish(), author: z.object({ username: z.string() }).nullish() }))
  .nullable();

/** One note for each object on a merge request of GitLab: later events change it. It is looked for among the first hundred. */
export const gitlabMergeRequestComment: MakeProvider = (settings, parts) => {
  const uid = requiredProviderUid(settings.uid);
  const project = gitlabProject(settings, parts);
  return {
    async post(event, signal) {
      const username = await project.username(signal);
      const { body, marker } = changeRequestComment(event, "flux-mr-comment-key", uid);
      const notesPath = `merge_requests/${changeRequestNumber(event, "ParseInt")}/notes`;
      const path = `${notesPath}?order_by=created_at&per_page=100&sort=asc`;
      const notes = await inWords("failed to list merge request notes", signal, () =>
        project.ask({ method: "GET", path, answer: Notes }, signal),
      );
      const own = notes?.find((each) => each.author?.username === username && (each.body ?? "").includes(marker));
      if (own === undefined) {
        await inWords("failed to create merge request note", signal, () =>
          project.ask({ method: "POST", path: notesPath, body: { body }, answer: z.unknown() }, signal),
        );
      } else {
        await inWords("failed to update merge request note", signal, () =>
          project.ask({ method: "PUT", path: `${notesPath}/${own.id}`, body: { body }, answer: z.unknown() }, signal),
        );
      }
    },
  };
};
