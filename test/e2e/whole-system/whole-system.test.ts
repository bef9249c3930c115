import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import type { Bundle } from "../../../infra/bundle.ts";
import { buildClients } from "../../interop/build-clients.ts";
import { faults } from "./faults.ts";
import { firstDeploy } from "./first-deploy.ts";
import { quickBundles } from "./quick-bundles.ts";
import { type RealParts, realParts } from "./real-parts.ts";
import { story } from "./story.ts";
import { openWorld } from "./world.ts";

const parts = realParts();
const missing = parts === undefined ? undefined : await buildClients();

describe.skipIf(parts === undefined || missing !== undefined)(
  `the whole system, if SLUICE_REAL_EKS_CLUSTER and all others name real parts (npm run real -- up)${missing ?? ""}`,
  () => {
    // Asked for by tests only, so that those that are skipped are listed.
    const real = (): RealParts => {
      if (parts === undefined) throw new Error("a real part is missing");
      return parts;
    };
    let folder: string;
    let bundles: ReadonlyMap<string, Bundle>;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "sluice-whole-"));
      bundles = await quickBundles(folder);
    });
    afterAll(() => rm(folder, { recursive: true }));

    story(() => openWorld({ parts: real(), bundles, title: "story", environments: 2 }));
    faults(real, (options) => openWorld({ parts: real(), bundles, title: "faults", environments: 2, ...options }));
    // In this file, since all three need the control plane for themselves.
    firstDeploy(real);
  },
);
