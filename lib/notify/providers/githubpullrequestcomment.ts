import { z } from "zod";
import { inWords } from "../../git-hosts/ask-host.ts";
import { githubJson, githubRepository } from "../../git-hosts/github-repository.ts";
import { changeRequestComment, changeRequestNumber, requiredProviderUid } from "../git/change-request.ts";
import type { MakeProvider } from "../provider.ts";

const Comments = z
  .array(
    z.object({
      id: z.int(),
      body: z.string().nullish(),
      user: z.object({ login: z.string().nullish() }).nullish(),
    }),
  )
  .nullable();
/** GitHub's preview of reactions, which go-github asks for. */
const accept = "application/vnd.github.squirrel-girl-preview";

/** One comment for each object on a pull request of GitHub: later events change it. It is looked for among the first hundred. */
export const githubPullRequestComment: MakeProvider = (settings, parts) => {
  const uid = requiredProviderUid(settings.uid);
  const repository = githubRepository(settings, parts);
  return {
    async post(event, signal) {
      const { ask, login } = await repository.connect({ hasLogin: true }, signal);
      const { body: text, marker } = changeRequestComment(event, "flux-pr-comment-key", uid);
      const body = githubJson({ body: text });
      const number = changeRequestNumber(event, "Atoi");
      const comments = await inWords("failed to list pull request comments", signal, () =>
        ask({
          method: "GET",
          path: `issues/${number}/comments?direction=asc&per_page=100&sort=created`,
          accept,
          answer: Comments,
        }),
      );
      const own = comments?.find((each) => (each.user?.login ?? "") === login && (each.body ?? "").includes(marker));
      if (own === undefined) {
        await inWords("failed to create pull request comment", signal, () =>
          ask({ method: "POST", path: `issues/${number}/comments`, body, answer: z.unknown() }),
        );
      } else {
        await inWords("failed to update pull request comment", signal, () =>
          ask({ method: "PATCH", path: `issues/comments/${own.id}`, body, answer: z.unknown() }),
        );
      }
    },
  };
};
