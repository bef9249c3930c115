import { z } from "zod";
import { inWords } from "../../git-hosts/ask-host.ts";
import { githubJson, githubRepository } from "../../git-hosts/github-repository.ts";
import { eventJson } from "../event-json.ts";
import type { MakeProvider } from "../provider.ts";

/** Starts the workflows of a repository on GitHub that listen to `repository_dispatch`, with the event as `client_payload`. */
export const githubDispatch: MakeProvider = (settings, parts) => {
  const repository = githubRepository(settings, parts);
  return {
    async post(event, signal) {
      const { ask } = await repository.connect({ hasLogin: false }, signal);
      const { kind, name, namespace } = event.involvedObject;
      const type = githubJson(`${kind}/${name}.${namespace}`);
      const body = `{"event_type":${type},"client_payload":${eventJson(event)}}`;
      await inWords("could not send github repository dispatch webhook", signal, () =>
        ask({ method: "POST", path: "dispatches", body, answer: z.unknown() }),
      );
    },
  };
};
