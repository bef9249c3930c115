import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { definedKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { type CliWorld, cliWorld } from "../cli-world.ts";

const { signal } = new AbortController();
const manager = "test";
const source = {
  apiVersion: "source.toolkit.fluxcd.io/v1",
  kind: "OCIRepository",
  metadata: { name: "app", namespace: "default" },
  spec: { interval: "1h", url: "oci://127.0.0.1:1/nowhere" },
};
const listed = [
  "delete OCIRepository/default/app",
  ...definedKinds.map(({ group, plural }) => `delete CustomResourceDefinition/${plural}.${group}`),
  "delete ConfigMap/kube-system/sluice-owner",
  "",
];

let world: CliWorld;
beforeAll(async () => {
  world = await cliWorld();
  await world.cluster.apply(source, { manager, force: true }, signal);
});
afterAll(async () => {
  await world.close();
});

const isThere = async (): Promise<boolean> => {
  const ref = { group: "source.toolkit.fluxcd.io", version: "v1", kind: source.kind, ...source.metadata };
  return (await world.cluster.get(ref, signal).catch(() => undefined)) !== undefined;
};

describe("sluice uninstall", () => {
  test("lists what it would remove, and removes nothing without a confirmation", async () => {
    const dry = await world.sh("uninstall", "--dry-run");
    expect([dry.code, dry.out.split("\n").toSorted(), dry.err]).toEqual([
      0,
      listed.toSorted(),
      expect.stringMatching(/✔ nothing was changed \(dry run\)\n$/),
    ]);
    expect(await world.sh("uninstall")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/✗ uninstall removes what is listed: confirm it with --yes\n$/),
    });
    world.answer = async (question) => !question.startsWith("Remove all this from the cluster?");
    expect(await world.sh("uninstall")).toMatchObject({
      code: 0,
      err: expect.stringMatching(/► nothing was removed\n$/),
    });
    world.answer = undefined;
    expect([await isThere(), (await world.sh("check")).code]).toEqual([true, 0]);
  });

  test("pauses, removes everything and says what to stop; then there is nothing left to remove", async () => {
    const { code, err } = await world.sh("uninstall", "--yes");
    expect([code, await isThere()]).toEqual([0, false]);
    expect(err).toMatch(
      /✔ cluster paused\n(✔ .*\n)*✔ ConfigMap\/kube-system\/sluice-owner deleted\n✔ uninstall finished; /,
    );
    expect(err).toMatch(
      /⚠️ if local-[0-9a-f]{16} still runs, it may become the owner of this cluster again: stop it, or /,
    );
    expect((await world.sh("check")).err).toContain("kustomizations.kustomize.toolkit.fluxcd.io/v1 is not served");
  });
});
