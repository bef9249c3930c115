import type { WorkKey } from "../../../../lib/core/work-key.ts";
import type { Machine } from "./machines.ts";

/** How long a write to the cluster takes: what is awaited before it is sent, and the request. */
export interface Latency {
  /** The cluster's kinds, its address, a token: up to 10 + 15 s. */
  readonly waitMs: number;
  /** Up to the margin. */
  readonly applyMs: number;
}

/** How an object's runs go. */
export interface Script extends Latency {
  readonly steps: number;
  readonly stepMs: number;
  readonly dueInMs: number | undefined;
  readonly throws: boolean;
  /** Whether each step also writes to the state. */
  readonly saves: boolean;
}

/** One object, and what really happened to it. */
export interface Subject {
  readonly key: WorkKey;
  /** The number of the content that it should have in the cluster. */
  content: number;
  /** What the content does to a run: `kills` takes its whole machine along. */
  nature: "good" | "throws" | "kills";
  /** The content in the cluster. */
  applied: number;
  /** When the latest request that was acknowledged had been called. */
  asked: number;
  askedContent: number;
  /** When the latest run that ended well had begun. */
  servedFrom: number;
  runs: number;
  runningSince: number | undefined;
  runner: Machine | undefined;
  announced: number;
  letters: number;
  /** Who took the lease last. */
  holder: string | undefined;
  /** The true time that the item's dueAt stands for. */
  dueAt: number | undefined;
  script: () => Script;
}

/** A short run that ends well. */
export const calm: Script = {
  steps: 1,
  stepMs: 500,
  waitMs: 0,
  applyMs: 20,
  dueInMs: undefined,
  throws: false,
  saves: true,
};

export function newSubject(name: string): Subject {
  const key = { cluster: "home", group: "kustomize.toolkit.fluxcd.io", kind: "Kustomization", namespace: "apps", name };
  return {
    key,
    content: 0,
    nature: "good",
    applied: 0,
    asked: 0,
    askedContent: 0,
    servedFrom: 0,
    runs: 0,
    runningSince: undefined,
    runner: undefined,
    announced: 0,
    letters: 0,
    holder: undefined,
    dueAt: undefined,
    script: () => calm,
  };
}
