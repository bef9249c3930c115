import type { HelmEngine } from "../../lib/core/ports/helm-engine.ts";
import type { MessageEngine } from "../../lib/core/ports/message-engine.ts";

const unexpected = async (): Promise<never> => {
  throw new Error("no release is expected here");
};

/** For tests without releases of Helm, and without templates of commit messages. */
export const noHelm: HelmEngine & MessageEngine = {
  prepare: unexpected,
  definitions: unexpected,
  reusedDigest: unexpected,
  render: unexpected,
  observe: unexpected,
  amend: unexpected,
  message: unexpected,
};
