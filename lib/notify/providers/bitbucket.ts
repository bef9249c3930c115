import { createHash } from "node:crypto";
import { z } from "zod";
import { goJson } from "../../core/go-json.ts";
import { askHost, inWords, jsonBody, statusText } from "../../git-hosts/ask-host.ts";
import { escapedSegment, repositoryAddress } from "../../git-hosts/repository-address.ts";
import { nameInStatus, requiredCommitStatus, statusOfEvent } from "../git/commit-of-event.ts";
import type { MakeProvider } from "../provider.ts";

const states = { info: "SUCCESSFUL", error: "FAILED", unknown: "can't convert to bitbucket state" };
const api = "https://api.bitbucket.org/2.0/";
const Status = z.object({ state: z.string().nullish(), description: z.string().nullish() }).nullable();

/** Build statuses on Bitbucket Cloud. If the present status of its key says the same, it is not sent again. */
export const bitbucket: MakeProvider = ({ address, commitStatus, tls, token }, { http }) => {
  if (token === "") throw new Error("bitbucket token cannot be empty");
  const key = createHash("sha1").update(requiredCommitStatus(commitStatus)).digest("hex");
  const { id } = repositoryAddress(address);
  const [user = "", password = "", ...rest] = token.split(":");
  if (rest.length > 0 || !token.includes(":")) {
    throw new Error("invalid token format, expected to be <user>:<password>");
  }
  const [owner = "", repo = "", ...more] = id.split("/");
  if (more.length > 0 || !id.includes("/")) throw new Error(`invalid repository id ${JSON.stringify(id)}`);
  const login =
    user === "" || password === "" ? {} : { authorization: `Basic ${Buffer.from(token).toString("base64")}` };

  return {
    async post(event, signal) {
      const status = statusOfEvent(event, states);
      if (status === undefined) return;
      const { commit, state, description } = status;
      const place = [owner, repo, "commit", commit, "statuses", "build"].map(escapedSegment).join("/");
      const url = `${api}repositories/${place}`;
      const present = await inWords("could not get commit status", signal, async () => {
        const answer = await askHost({ method: "GET", url: `${url}/${key}`, headers: login, tls }, http, signal);
        if (answer.status === 404) return null;
        if (!isExpected(answer.status)) throw new Error(statusText(answer));
        const parsed = Status.safeParse(jsonBody(answer));
        if (!parsed.success) throw new Error("the answer is not the one of Bitbucket's API", { cause: parsed.error });
        return parsed.data;
      });
      if (present?.state === state && present.description === description) return;
      const body = goJson({ key, url: "https://bitbucket.org", state, name: nameInStatus(event), description });
      const headers = { ...login, "content-type": "application/json" };
      const answer = await askHost({ method: "POST", url, headers, body, tls }, http, signal);
      if (!isExpected(answer.status)) throw new Error(statusText(answer));
    },
  };
};

function isExpected(status: number): boolean {
  return [200, 201, 202, 204].includes(status);
}
