import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { homeNetwork } from "../../../../lib/core/network/network-policy.ts";
import { gitRepositoryFlow } from "../../../../lib/flows/git-repository/git-repository-flow.ts";
import { httpClient } from "../../../../lib/http/http-client.ts";
import type { KnownServers } from "../../../../lib/sources/git/conversations.ts";
import { defaultGitLimits } from "../../../../lib/sources/git/git-remote.ts";
import { httpTransport } from "../../../../lib/sources/git/http-transport.ts";
import { openGitRemote } from "../../../../lib/sources/git/open-git-remote.ts";
import { untilDeadline } from "../../../deadline.ts";
import { gitPrograms, gitRepository, gitServer } from "../../../doubles/git-server.ts";
import { gitWorld, manifest } from "./git-world.ts";

const { world, artifact, conditions, apply, stored } = gitWorld();
const running: AsyncDisposableStack[] = [];
const known: KnownServers = new Map();
beforeEach(() => void running.push(new AsyncDisposableStack()));
afterEach(() => running.pop()?.disposeAsync());

const run = () =>
  world().run("app", untilDeadline(), (deps) => {
    const http = httpClient({ network: homeNetwork });
    running.at(-1)?.defer(() => http.close());
    const openRepository = async (url: string) =>
      openGitRemote(httpTransport({ url }, http, defaultGitLimits), defaultGitLimits, known);
    return gitRepositoryFlow({ ...deps, openRepository });
  });

describe.skipIf(gitPrograms === undefined)("a GitRepository on a server of git itself", () => {
  test("fetches each kind of ref, and sends one request without content if nothing has changed", async () => {
    await using repository = await gitRepository();
    const commit = await repository.commit({ "a.yaml": manifest, "deploy/b.yaml": manifest });
    await repository.git("tag", "-a", "v1.0.0", "-m", "One", commit);
    await using server = await gitServer(repository);
    for (const ref of [
      { branch: "main" },
      { tag: "v1.0.0" },
      { semver: "1.x" },
      { name: "refs/heads/main" },
      { commit },
    ]) {
      apply({ url: server.url, ref });
      await run();
      expect(conditions()).toContain("Ready=True Succeeded");
      expect(artifact().revision).toContain(`sha1:${commit}`);
      expect((await stored()).names).toEqual(["- 600 a.yaml", "d 750 deploy", "- 600 deploy/b.yaml"]);
      server.seen.length = 0;
      await run();
      expect(server.seen.map(({ method }) => method)).toEqual(["POST"]);
    }
    apply({ url: server.url, ref: { branch: "main" }, sparseCheckout: ["deploy"] });
    await run();
    expect((await stored()).names).toEqual(["d 750 deploy", "- 600 deploy/b.yaml"]);
  });
});
