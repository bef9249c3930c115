import type { Engine } from "../lib/core/ports/engine.ts";
import type { KustomizationDeps } from "../lib/flows/kustomization/deps.ts";
import { kustomizationFlow } from "../lib/flows/kustomization/kustomization-flow.ts";
import { measured } from "../lib/flows/measured.ts";
import type { OciRepositoryDeps } from "../lib/flows/oci-repository/deps.ts";
import { ociRepositoryFlow } from "../lib/flows/oci-repository/oci-repository-flow.ts";
import { patientState } from "../lib/flows/patient-state.ts";
import { type PatienceDeps, patiently } from "../lib/flows/patiently.ts";
import { reportOutage } from "../lib/flows/report-outage.ts";
import { cachedBuild } from "../lib/manifests/cached-build.ts";
import type { Flows } from "./kinds.ts";

/** The adapters that the flows of an installation stand on. */
export interface FlowParts
  extends Omit<KustomizationDeps, "build" | "jitter">,
    Pick<OciRepositoryDeps, "artifactUrl" | "http" | "logins"> {
  readonly engine: Engine;
}

/** The flow of every kind. */
export function makeFlows(parts: FlowParts): Flows {
  const { cluster, clock, engine, log } = parts;
  const common = { ...parts, ...patientState(parts), jitter: Math.random };
  const patience: PatienceDeps = {
    clock,
    log,
    tell: (run, failure, wasTold) => reportOutage(run, failure, wasTold, { cluster, clock }),
  };
  return {
    OCIRepository: measured(patiently(ociRepositoryFlow(common), patience), parts),
    Kustomization: measured(
      patiently(
        kustomizationFlow({
          ...common,
          build: cachedBuild({ engine, log }),
        }),
        patience,
      ),
      parts,
    ),
  };
}
