import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { listenOnLoopback } from "../loopback/listen-on-loopback.ts";

/** A message in the chat. */
export interface ChatMessage {
  /** The object: `kustomization/oddy-test.default`. */
  readonly about: string;
  readonly text: string;
}

/** The status of a commit at the git host. */
export interface CommitStatus {
  readonly commit: string;
  readonly context: string;
  readonly state: string;
  readonly description: string;
}

/** A chat that takes Slack's messages, and a git host with Gitea's API for commit statuses, on loopback. */
export interface NotifyHosts extends AsyncDisposable {
  readonly url: string;
  readonly messages: readonly ChatMessage[];
  readonly statuses: readonly CommitStatus[];
  /** From now on the chat answers that it knows no such webhook, or takes messages again. */
  closeChat(isClosed: boolean): void;
}

const SlackMessage = z.object({ attachments: z.array(z.object({ author_name: z.string(), text: z.string() })) });
const Status = z.object({ context: z.string(), state: z.string(), description: z.string() });
const ofCommit = /^\/api\/v1\/repos\/team\/app\/(?:commits\/([0-9a-f]{40})\/statuses|statuses\/([0-9a-f]{40}))(?:\?|$)/;

/** @param token that the git host takes */
export async function startNotifyHosts(token: string): Promise<NotifyHosts> {
  const messages: ChatMessage[] = [];
  const statuses: CommitStatus[] = [];
  let isChatClosed = false;

  const answer = async (request: IncomingMessage): Promise<{ readonly status: number; readonly body: unknown }> => {
    const { headers, method, url = "" } = request;
    const sent = await text(request);
    if (url === "/chat") {
      if (isChatClosed) return { status: 404, body: "no_service" };
      for (const { author_name, text: said } of SlackMessage.parse(JSON.parse(sent)).attachments) {
        messages.push({ about: author_name, text: said });
      }
      return { status: 200, body: "ok" };
    }
    if (headers.authorization !== `token ${token}`) return { status: 401, body: { message: "token is required" } };
    if (url === "/api/v1/version") return { status: 200, body: { version: "1.24.0" } };
    const [, asked, set] = ofCommit.exec(url) ?? [];
    const commit = asked ?? set ?? "";
    if (method === "GET" && asked !== undefined) {
      const found = statuses.filter((one) => one.commit === commit).toReversed();
      return { status: 200, body: found.map(({ state, ...status }) => ({ ...status, status: state })) };
    }
    if (method === "POST" && set !== undefined) {
      const status = { commit, ...Status.parse(JSON.parse(sent)) };
      statuses.push(status);
      return { status: 201, body: { ...status, status: status.state } };
    }
    return { status: 404, body: { message: "not found" } };
  };
  const server = createServer((request, response) => {
    answer(request)
      .catch(() => ({ status: 400, body: { message: "not understood" } }))
      .then(({ status, body }) => response.writeHead(status).end(JSON.stringify(body)))
      .catch(() => response.destroy());
  });
  const listening = await listenOnLoopback(server, 0, { name: "the chat and the git host", option: "" });
  return {
    url: `http://127.0.0.1:${listening.port}`,
    messages,
    statuses,
    closeChat(isClosed) {
      isChatClosed = isClosed;
    },
    [Symbol.asyncDispose]: () => listening.close(),
  };
}
