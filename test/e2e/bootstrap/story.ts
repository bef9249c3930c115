import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gitEnvironment } from "../../../local/demo/git-http-backend.ts";
import type { Hosting } from "../../doubles/hosting.ts";

const run = promisify(execFile);
const launcher = join(import.meta.dirname, "../../../cli/sluice.js");

/** Where the story plays. */
export interface StoryPlace {
  readonly host: Hosting;
  readonly kubeconfig: string;
  /** `http://127.0.0.1:PORT`. */
  readonly receiver: string;
}

/** What a user saw. */
export interface StoryEnd {
  /** The lines of `get kustomizations --watch`, without the times. */
  readonly watched: string;
  /** The commit of the last push. */
  readonly head: string;
}

/**
 * The first steps of a user of flux with `sluice` in place of `flux`, as they are typed into a shell: bootstrap, a source and a
 * Kustomization as files, commit, push, and a watch until the Kustomization is ready. The repository `jane/podinfo` has to be there.
 */
export async function playStory({ host, kubeconfig, receiver }: StoryPlace): Promise<StoryEnd> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-bootstrap-story-"));
  const env = {
    ...gitEnvironment,
    ...{ KUBECONFIG: kubeconfig, GITHUB_TOKEN: host.token, GITHUB_USER: "jane", HOST: host.origin, SSH_HOST: host.ssh },
    ...{ RECEIVER: receiver, NODE: process.execPath, SLUICE: launcher, NO_COLOR: "1" },
    GIT_AUTHOR_NAME: "Jane",
    GIT_AUTHOR_EMAIL: "jane@example.com",
    GIT_COMMITTER_NAME: "Jane",
    GIT_COMMITTER_EMAIL: "jane@example.com",
  };
  const sh = async (script: string, cwd = folder): Promise<string> => {
    const text = `set -e\nsluice() { "$NODE" "$SLUICE" "$@"; }\n${script}`;
    return (await run("/bin/sh", ["-c", text], { cwd, env })).stdout.trim();
  };
  try {
    await sh(`sluice bootstrap github \\
  --hostname="$HOST" --allow-insecure-http --ssh-hostname="$SSH_HOST" --webhook-url="$RECEIVER" \\
  --owner=$GITHUB_USER \\
  --repository=fleet-infra \\
  --branch=main \\
  --path=./clusters/my-cluster \\
  --personal`);
    const withLogin = host.origin.replace("://", `://jane:${host.token}@`);
    await sh(`git clone --quiet ${withLogin}/jane/fleet-infra.git fleet-infra`);
    const clone = join(folder, "fleet-infra");
    await sh(
      `sluice create source git podinfo \\
  --url="$HOST/jane/podinfo.git" \\
  --branch=master \\
  --interval=1m \\
  --export > ./clusters/my-cluster/podinfo-source.yaml`,
      clone,
    );
    await sh('git add -A && git commit --quiet -m "Add podinfo GitRepository" && git push --quiet', clone);
    await sh(
      `sluice create kustomization podinfo \\
  --target-namespace=default \\
  --source=podinfo \\
  --path="./kustomize" \\
  --prune=true \\
  --wait=true \\
  --interval=30m \\
  --retry-interval=2m \\
  --health-check-timeout=3m \\
  --export > ./clusters/my-cluster/podinfo-kustomization.yaml`,
      clone,
    );
    await sh('git add -A && git commit --quiet -m "Add podinfo Kustomization" && git push --quiet', clone);
    const watched = await watch(env, folder);
    return { watched, head: await sh("git rev-parse HEAD", clone) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** `sluice get kustomizations --watch` until podinfo is ready, and then Ctrl-C. */
async function watch(env: NodeJS.ProcessEnv, cwd: string): Promise<string> {
  const command = spawn(process.execPath, [launcher, "get", "kustomizations", "--watch"], {
    ...{ cwd, env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let text = "";
  const ended = new Promise((resolve) => command.once("close", resolve));
  for await (const chunk of command.stdout) {
    text += String(chunk);
    if (/^podinfo\s.*\bTrue\b/m.test(text)) break;
  }
  command.kill("SIGINT");
  await ended;
  return text;
}
