import type { HelmEngine } from "../../lib/core/ports/helm-engine.ts";

const unexpected = async (): Promise<never> => {
  throw new Error("no release is expected here");
};

/** For tests without releases of Helm. */
export const noHelm: HelmEngine = {
  prepare: unexpected,
  definitions: unexpected,
  reusedDigest: unexpected,
  render: unexpected,
  observe: unexpected,
  amend: unexpected,
};
