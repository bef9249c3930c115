import { expect, test } from "vitest";
import { gitWorld, manifest } from "./git-world.ts";

const { world, repository, apply, run, artifact } = gitWorld();

test.each([
  { provider: "aws", missed: 1 },
  { provider: "generic", missed: 0 },
])(
  "a commit that the interval of a GitRepository with provider $provider finds: $missed events are missed",
  async ({ provider, missed }) => {
    repository().commit({ "a.yaml": manifest });
    apply({ provider });
    await run();
    const commit = repository().commit({ "b.yaml": manifest });
    world().state.isRequested = false;
    expect(await run()).toMatchObject(missed === 1 ? { dueInMs: 60_000 } : { outcome: "stored" });
    expect(artifact().revision).toContain(commit);
    await run();
    await run();
    const counted = world().measured.filter(([, measures]) => measures.EventsMissed === 1);
    expect(counted).toHaveLength(missed);
  },
);
