import type { Flow } from "../lib/core/ports/run.ts";
import { ociRepositoryFlow } from "../lib/flows/oci-repository/oci-repository-flow.ts";
import { ociRepository, sourceWorld } from "../test/unit/flows/source-world.ts";
import { type Figure, figure } from "./figure.ts";

const rounds = 30;

/**
 * A run of an OCIRepository whose tag has not moved, against the embedded registry over loopback: its requests to the origin, those
 * that ask for content, what it writes to its object, and its time.
 */
export async function unchangedSource(): Promise<readonly Figure[]> {
  const world = await sourceWorld();
  try {
    await world.push("latest", { "a.yaml": "kind: ConfigMap\n" });
    world.apply(ociRepository("app", { url: `oci://${world.address}/app` }));
    const clock = { ...world.deps.clock, monotonic: () => performance.now() };
    const flow: Flow = ociRepositoryFlow({ ...world.deps, clock });
    const run = () => world.run("app", AbortSignal.timeout(20_000), () => flow);
    await run();
    const [requests, contents, writes, times]: number[][] = [[], [], [], []];
    for (let round = 0; round < rounds; round++) {
      world.sent.length = 0;
      const written = world.writes.filter(({ verb }) => verb === "patch").length;
      const begun = performance.now();
      await run();
      times?.push(performance.now() - begun);
      requests?.push(world.sent.length);
      contents?.push(world.sent.filter(({ method }) => method !== "HEAD").length);
      writes?.push(world.writes.filter(({ verb }) => verb === "patch").length - written);
    }
    return [
      figure("unchanged source, requests to the origin", "requests", requests ?? [], { of: "max", atMost: 1 }),
      figure("unchanged source, requests for content", "requests", contents ?? [], { of: "max", atMost: 0 }),
      figure("unchanged source, writes to its object", "requests", writes ?? [], { of: "max", atMost: 1 }),
      figure("unchanged source, run", "ms", times ?? []),
    ];
  } finally {
    await world.close();
  }
}
