import type { MakeProvider } from "../provider.ts";
import { azureDevOps } from "./azuredevops.ts";
import { bitbucket } from "./bitbucket.ts";
import { bitbucketServer } from "./bitbucketserver.ts";
import { gitea } from "./gitea.ts";
import { giteaPullRequestComment } from "./giteapullrequestcomment.ts";
import { github } from "./github.ts";
import { githubDispatch } from "./githubdispatch.ts";
import { githubPullRequestComment } from "./githubpullrequestcomment.ts";
import { gitlab } from "./gitlab.ts";
import { gitlabMergeRequestComment } from "./gitlabmergerequestcomment.ts";

/** The types that speak to git hosts, by `spec.type`. */
export const gitProviders: Readonly<Record<string, MakeProvider>> = {
  azuredevops: azureDevOps,
  bitbucket,
  bitbucketserver: bitbucketServer,
  gitea,
  giteapullrequestcomment: giteaPullRequestComment,
  github,
  githubdispatch: githubDispatch,
  githubpullrequestcomment: githubPullRequestComment,
  gitlab,
  gitlabmergerequestcomment: gitlabMergeRequestComment,
};
