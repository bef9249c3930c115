import type { Kubernetes } from "../../src/start-kubernetes.ts";
import type { Bindings } from "./placeholders.ts";
import type { RecordedCase } from "./recorded-case.ts";
import type { RecordingProxy } from "./recording-proxy.ts";

/** What a replay works on. */
export interface Replay {
  readonly kubernetes: Kubernetes;
  readonly adminToken: string;
  readonly bindings: Bindings;
  readonly watches: Map<string, Promise<string>>;
  readonly recorded: RecordedCase;
  /** How many times as long as recorded a watch lasts. */
  readonly watchFactor: number;
  /** What kubectl speaks to. */
  readonly proxy: RecordingProxy;
  /** Answers the path of a kubectl, for the steps that run one. */
  readonly kubectl: (() => Promise<string>) | undefined;
  /** For the kubectl steps: a cache that all steps of the case share. */
  readonly scratch: string;
}
