import { afterEach, beforeEach } from "vitest";
import { z } from "zod";
import { Conditions } from "../../../../lib/api/condition.ts";
import { Artifact } from "../../../../lib/api/source.ts";
import type { Failure } from "../../../../lib/core/failure.ts";
import { isJsonObject, type JsonObject } from "../../../../lib/core/json.ts";
import type { FlowResult } from "../../../../lib/core/ports/run.ts";
import { gitRepositoryFlow } from "../../../../lib/flows/git-repository/git-repository-flow.ts";
import type { OpenRepository } from "../../../../lib/flows/git-repository/open-repository.ts";
import { defaultArchiveLimits, unpack } from "../../../../lib/sources/archive/unpack.ts";
import { untilDeadline } from "../../../deadline.ts";
import { type MemoryGit, memoryGit } from "../../../doubles/memory-git.ts";
import { sourceWorld, type World } from "../source-world.ts";

const Status = z
  .object({
    conditions: Conditions.default([]),
    artifact: Artifact.exactOptional(),
    includedArtifacts: z.array(Artifact).exactOptional(),
    observedGeneration: z.number(),
  })
  .loose();

const Event = z.object({
  type: z.string(),
  reason: z.string(),
  message: z.string(),
  metadata: z.object({ annotations: z.record(z.string(), z.string()).exactOptional() }).loose(),
});

export const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

/** A world with GitRepositories and repositories in memory, by URL, for each test of the file that calls this. */
export function gitWorld() {
  let own: World | undefined;
  let repositories: Map<string, MemoryGit>;
  let refusal: Failure | undefined;
  const opened: { readonly url: string; readonly hasLogin: boolean }[] = [];
  beforeEach(async () => {
    own = await sourceWorld(undefined, "GitRepository");
    opened.length = 0;
    refusal = undefined;
    repositories = new Map([["https://git.example.test/app.git", memoryGit()]]);
  });
  afterEach(() => own?.close());

  const world = (): World => {
    if (own === undefined) throw new Error("asked for before the test began");
    return own;
  };
  const repository = (url = "https://git.example.test/app.git"): MemoryGit => {
    const found = repositories.get(url) ?? memoryGit();
    repositories.set(url, found);
    return found;
  };
  const status = (name = "app") => Status.parse(world().get(name)["status"]);
  const artifact = (name = "app") => {
    const found = status(name).artifact;
    if (found === undefined) throw new Error(`${name} has no artifact`);
    return found;
  };

  const openRepository: OpenRepository = async (url, { secretRef, provider, serviceAccountName }) => {
    opened.push({ url, hasLogin: [secretRef, provider, serviceAccountName].some((one) => one !== undefined) });
    if (refusal !== undefined) throw refusal;
    return repository(url.replace(/\/\/[^/@]*@/, "//")).remote();
  };

  /** Creates or changes a GitRepository; null removes a field. */
  function apply(spec: JsonObject = {}, name = "app"): void {
    const before = world().has(name) ? world().get(name)["spec"] : undefined;
    const fields: JsonObject = {
      interval: "60m",
      timeout: "60s",
      url: "https://git.example.test/app.git",
      ref: { branch: "main" },
    };
    const changed = Object.entries({ ...fields, ...(isJsonObject(before) ? before : {}), ...spec });
    world().apply({
      apiVersion: "source.toolkit.fluxcd.io/v1",
      kind: "GitRepository",
      metadata: { name, namespace: "apps" },
      spec: Object.fromEntries(changed.filter(([, value]) => value !== null)),
    });
  }

  return {
    world,
    repository,
    /** The repositories that were opened, and whether with the login of the object. */
    opened,
    /** Opening any repository fails so, until it is told otherwise. */
    refuse: (failure?: Failure) => {
      refusal = failure;
    },
    status,
    artifact,
    condition: (type: string, name = "app") => status(name).conditions.find((one) => one.type === type),
    /** `Ready=False GitOperationFailed`, in their order. */
    conditions: (name = "app") =>
      status(name).conditions.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`),
    message: (name = "app") => status(name).conditions.find(({ type }) => type === "Ready")?.message,
    apply,
    run: (name = "app"): Promise<FlowResult> =>
      world().run(name, untilDeadline(), (deps) => gitRepositoryFlow({ ...deps, openRepository })),
    /** What was told since the last call. */
    told: () => {
      const events = world()
        .events.splice(0)
        .map((event) => Event.parse(event));
      return events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
    },
    /** The entries of the stored archive: `- 600 a.yaml`, and the text of each file. */
    stored: async (name = "app") => {
      const bytes = world().stored.get(artifact(name).digest);
      if (bytes === undefined) throw new Error("not stored");
      const { entries } = await unpack(bytes, defaultArchiveLimits, untilDeadline());
      const names = entries.map(({ type, mode, path }) => `${type === "file" ? "-" : "d"} ${mode.toString(8)} ${path}`);
      const texts = entries.flatMap((entry) =>
        entry.type === "file" ? [[entry.path, Buffer.from(entry.bytes).toString()] as const] : [],
      );
      return { names, files: Object.fromEntries(texts) };
    },
  };
}
