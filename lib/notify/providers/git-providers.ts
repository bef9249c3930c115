import type { MakeProvider } from "../provider.ts";
import { github } from "./github.ts";
import { githubDispatch } from "./githubdispatch.ts";
import { githubPullRequestComment } from "./githubpullrequestcomment.ts";

/** The types that speak to git hosts, by `spec.type`. */
export const gitProviders: Readonly<Record<string, MakeProvider>> = {
  github,
  githubdispatch: githubDispatch,
  githubpullrequestcomment: githubPullRequestComment,
};
