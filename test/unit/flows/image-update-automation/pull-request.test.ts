import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { gitPrograms } from "../../../doubles/git-server.ts";
import { automationScenes, image } from "./opened-world.ts";

const { scene } = automationScenes("pull");
const Text = z.object({ title: z.string(), body: z.string(), head: z.string(), base: z.string() });

/** As much of Gitea as opens pull requests. */
function gitea() {
  const pulls: JsonObject[] = [];
  const asked: string[] = [];
  const state = { isDown: false };
  const answer = (response: ServerResponse, status: number, body: JsonObject | readonly JsonObject[]): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", url = "" } = request;
    asked.push(`${method} ${url.replace(/\?.*/, "")} ${request.headers.authorization ?? ""}`);
    if (state.isDown) return answer(response, 422, { message: "no such luck" });
    if (url === "/api/v1/version") return answer(response, 200, { version: "1.22.0" });
    if (method === "GET") return answer(response, 200, url.includes("page=1") ? pulls : []);
    const sent: unknown = JSON.parse(await text(request));
    if (method === "POST") {
      const { base, body, head, title } = Text.parse(sent);
      const number = pulls.length + 1;
      const html_url = `https://git.example.test/acme/repository/pulls/${number}`;
      const side = (ref: string) => ({ ref, repo_id: 1 });
      const pull = { number, html_url, title, body, head: side(head), base: side(base) };
      pulls.push(pull);
      return answer(response, 201, pull);
    }
    const { title, body } = Text.pick({ title: true, body: true }).parse(sent);
    pulls[0] = { ...pulls[0], title, body };
    answer(response, 201, pulls[0]);
  };
  return {
    pulls,
    asked,
    state,
    serve: (request: IncomingMessage, response: ServerResponse) => void serve(request, response),
  };
}

const git = { push: { branch: "updates" } };

async function requesting(more: Parameters<typeof scene>[0] = { git }) {
  const one = await scene(more);
  const host = gitea();
  one.state.api = host.serve;
  await one.source({
    url: one.server.url.replace("/repository.git", "/acme/repository.git"),
    secretRef: { name: "login" },
  });
  await one.secret("login", { username: "git", password: "secret-token" });
  await one.annotate({ "sluice.dev/pull-request": "gitea" });
  return { one, host };
}

describe.skipIf(gitPrograms === undefined)("an ImageUpdateAutomation whose annotation asks for a pull request", () => {
  test("opens one for the branch that it has pushed, and its event contains the address", async () => {
    const { one, host } = await requesting();
    expect(await one.run()).toMatchObject({ outcome: "pushed" });
    expect(host.pulls).toMatchObject([
      { title: "Update from image update automation", head: { ref: "updates" }, base: { ref: "main" } },
    ]);
    expect(host.asked.at(-1)).toBe("POST /api/v1/repos/acme/repository/pulls token secret-token");
    expect(one.events().at(-1)).toMatch(
      /\npull request created: https:\/\/git\.example\.test\/acme\/repository\/pulls\/1$/,
    );
    await one.policy("app", image("1.2.0"));
    await one.run();
    expect(host.pulls).toHaveLength(1);
    expect(one.events().at(-1)).toMatch(/\npull request unchanged: /);
    host.asked.length = 0;
    expect(await one.run()).toMatchObject({ outcome: "unchanged" });
    expect(host.asked).toEqual([]);
  });

  test("pushes even if the host does not answer, reports that, and opens the pull request in a later run", async () => {
    const { one, host } = await requesting();
    host.state.isDown = true;
    expect(await one.run()).toMatchObject({ outcome: "failed" });
    const head = await one.head("updates");
    expect((await one.status()).lastPushCommit).toBe(head);
    const [said, ready] = await one.conditions();
    expect(said).toBe("Reconciling=True ProgressingWithRetry: processing object: new generation -1 -> 1");
    expect(ready).toMatch(/^Ready=False GitOperationFailed: failed to open the pull request from updates to main: /);
    expect(ready).not.toContain("secret-token");
    host.state.isDown = false;
    await one.run();
    expect(host.pulls).toHaveLength(1);
    expect(await one.head("updates")).toBe(head);
    expect(await one.conditions()).toEqual(["Ready=True Succeeded: repository up-to-date"]);
    expect(one.events().at(-1)).toMatch(
      /^Normal Succeeded: pushed commit '[0-9a-f]{7}' to branch 'updates'\n(.|\n)*\npull request created: /,
    );
  });

  test("stalls before pushing if it pushes to the branch that it checks out", async () => {
    const { one } = await requesting({});
    expect(await one.run()).toMatchObject({ outcome: "stalled" });
    const why =
      "InvalidSourceConfiguration: the annotation sluice.dev/pull-request asks for a pull request, but commits go to the branch that is checked out, 'main': set spec.git.push.branch to another one";
    expect(await one.conditions()).toEqual([`Stalled=True ${why}`, `Ready=False ${why}`]);
    expect(await one.commits()).toBe(1);
  });

  test("reads the login from the Secret that an annotation names, and reports a missing one", async () => {
    const { one, host } = await requesting();
    await one.annotate({ "sluice.dev/pull-request-secret": "api" });
    await one.run();
    expect((await one.conditions()).at(-1)).toContain(`names the Secret '${one.namespace}/api', which is not there`);
    await one.secret("api", { token: "other-token" });
    await one.policy("app", image("1.2.0"));
    await one.run();
    expect(host.asked.at(-1)).toBe("POST /api/v1/repos/acme/repository/pulls token other-token");
  });
});
