import { type Figure, figure } from "./figure.ts";
import { configMap, sluiceUnderTest } from "./sluice-under-test.ts";

const rounds = 12;

/** From A's Ready in the cluster to the first write of B, which depends on it; both follow one source. */
export async function dependencyHop(): Promise<readonly Figure[]> {
  await using sluice = await sluiceUnderTest();
  const sourceRef = { kind: "OCIRepository", name: "hop-a" };
  await sluice.follow("hop-a", { path: "./" });
  await sluice.follow("hop-b", { sourceRef, namePrefix: "b-", dependsOn: [{ name: "hop-a" }] });
  const hops: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const { revision, at } = await sluice.push("hop-a", { "a.yaml": configMap("hop", String(round)) });
    await sluice.ready("hop-b", revision);
    await sluice.logged("hop-b", at);
    const since = sluice.process.requests.filter((request) => request.at >= at);
    const ready = since.findLast(({ verb, path }) => verb === "patch" && path.endsWith("/kustomizations/hop-a/status"));
    const write = since.find(
      ({ verb, dryRun, path }) => verb === "apply" && !dryRun && path.endsWith("/configmaps/b-hop"),
    );
    if (round > 0) hops.push((write?.at ?? Number.NaN) - (ready?.at ?? Number.NaN));
  }
  return [figure("dependency hop: A ready to B's first write", "ms", hops, { of: "p95", atMost: 100 })];
}
