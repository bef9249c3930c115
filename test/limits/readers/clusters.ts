import type { WorstInput } from "../worst-input.ts";

/** What an API server answers, and kubeconfigs that are read from Secrets. */
export const clusterReaders: readonly WorstInput[] = [];
