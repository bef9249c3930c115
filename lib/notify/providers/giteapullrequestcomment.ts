import { z } from "zod";
import { inWords } from "../../git-hosts/ask-host.ts";
import { giteaRepository } from "../../git-hosts/gitea-repository.ts";
import { changeRequestComment, changeRequestNumber, requiredProviderUid } from "../git/change-request.ts";
import type { MakeProvider } from "../provider.ts";

const Comments = z
  .array(
    z.object({
      id: z.int(),
      body: z.string().nullish(),
      user: z.object({ login: z.string().default("") }).nullish(),
    }),
  )
  .nullable();

/** One comment for each object on a pull request of Gitea: later events change it. It is looked for among the first hundred. */
export const giteaPullRequestComment: MakeProvider = (settings, parts) => {
  const uid = requiredProviderUid(settings.uid);
  const repository = giteaRepository(settings, parts);
  return {
    async post(event, signal) {
      await repository.connect(signal);
      const username = await repository.username(signal);
      const { body, marker } = changeRequestComment(event, "flux-pr-comment-key", uid);
      const path = `issues/${changeRequestNumber(event, "Atoi")}/comments`;
      const comments = await inWords("failed to list pull request comments", signal, () =>
        repository.ask({ method: "GET", path: `${path}?limit=100&page=1`, answer: Comments }, signal),
      );
      const own = comments?.find((each) => each.user?.login === username && (each.body ?? "").includes(marker));
      if (own === undefined) {
        await inWords("failed to create pull request comment", signal, () =>
          repository.ask({ method: "POST", path, body: { body }, answer: z.unknown() }, signal),
        );
      } else {
        await inWords("failed to update pull request comment", signal, () =>
          repository.ask(
            { method: "PATCH", path: `issues/comments/${own.id}`, body: { body }, answer: z.unknown() },
            signal,
          ),
        );
      }
    },
  };
};
