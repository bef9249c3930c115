import { randomUUID } from "node:crypto";
import { z } from "zod";
import { goJson } from "../../core/go-json.ts";
import type { HttpResponse } from "../../core/ports/http.ts";
import { safeMessage } from "../../core/safe-text.ts";
import {
  askHost,
  type HostRequest,
  inWords,
  isSuccess,
  jsonBody,
  shownBody,
  statusText,
} from "../../git-hosts/ask-host.ts";
import { escapedSegment, repositoryAddress } from "../../git-hosts/repository-address.ts";
import { requiredCommitStatus, statusOfEvent } from "../git/commit-of-event.ts";
import type { MakeProvider } from "../provider.ts";

const states = { info: "succeeded", error: "error", unknown: "can't convert to azure devops state" };
/** By it Azure DevOps knows the requests of one process. */
const session = randomUUID();
const Text = z.string().nullish();
const Statuses = z.object({
  value: z
    .array(z.object({ context: z.object({ name: Text, genre: Text }).nullish(), state: Text, description: Text }))
    .nullish(),
});

/** Commit statuses on Azure DevOps. If the first status of its context says the same, it is not sent again. */
export const azureDevOps: MakeProvider = (settings, { http }) => {
  const { address, tls, token } = settings;
  if (token === "") {
    const mend = "put a personal access token into the key token of spec.secretRef";
    throw new Error(`failed to acquire azure devops token: Sluice has no identity in Azure: ${mend}`);
  }
  const { origin, id } = repositoryAddress(address);
  const name = requiredCommitStatus(settings.commitStatus);
  const [organization = "", project = "", , repo = "", ...more] = id.split("/");
  if (more.length > 0 || id.split("/").length !== 4) throw new Error(`invalid repository id ${JSON.stringify(id)}`);
  // Azure's client lowers it.
  const base = `${origin}/${escapedSegment(organization)}`.toLowerCase();

  const ask = async (request: Pick<HostRequest, "body" | "method" | "url">, signal: AbortSignal): Promise<unknown> => {
    const headers = {
      accept: "application/json;api-version=6.0",
      authorization: `Basic ${Buffer.from(`:${token}`).toString("base64")}`,
      "x-tfs-fedauthredirect": "Suppress",
      "x-tfs-session": session,
      ...(request.body === undefined ? {} : { "content-type": "application/json;charset=utf-8" }),
    };
    const answer = await askHost({ ...request, headers, tls }, http, signal);
    if (!isSuccess(answer)) throw new Error(faultOf(answer));
    return jsonBody(answer);
  };

  return {
    async post(event, signal) {
      const status = statusOfEvent(event, states);
      if (status === undefined) return;
      const { commit, state, description } = status;
      const { summary } = event.metadata ?? {};
      const genre = summary === undefined ? "fluxcd" : `fluxcd:${summary}`;
      const [ofProject, ofRepo, ofCommit] = [project, repo, commit].map(escapedSegment);
      const url = `${base}/${ofProject}/_apis/git/repositories/${ofRepo}/commits/${ofCommit}/statuses`;
      const statuses = await inWords("could not list commit statuses", signal, async () => {
        const parsed = Statuses.safeParse(await ask({ method: "GET", url }, signal));
        if (!parsed.success) throw new Error("the answer is not the one of Azure DevOps", { cause: parsed.error });
        return parsed.data.value;
      });
      const latest = statuses?.find(
        (each) =>
          each.context?.name === name && each.context.genre === genre && each.state != null && each.description != null,
      );
      if (latest?.state === state && latest.description === description) return;
      const body = goJson({ context: { genre, name }, description, state });
      await inWords("could not create commit status", signal, () => ask({ method: "POST", url, body }, signal));
    },
  };
};

const Fault = z.object({
  message: Text,
  value: z.object({ Message: Text }).nullish(),
});

/** In the words of Azure's client. */
function faultOf(answer: HttpResponse): string {
  const { body, headers, status } = answer;
  if (body.length === 0) return `Request returned status: ${statusText(answer)}`;
  if ((headers["content-type"] ?? "").includes("text/plain")) return shownBody(answer);
  const { data } = Fault.safeParse(jsonBody(answer));
  return safeMessage(data?.message ?? data?.value?.Message ?? `REST call returned status code ${status}`);
}
