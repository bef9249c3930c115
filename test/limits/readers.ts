import { clusterReaders } from "./readers/clusters.ts";
import { manifestReaders } from "./readers/manifests.ts";
import { receiverReaders } from "./readers/receiver.ts";
import type { WorstInput } from "./worst-input.ts";

/** The worst input of every reader of foreign bytes. Whoever adds a reader adds its worst input. */
export const worstInputs: readonly WorstInput[] = [...clusterReaders, ...manifestReaders, ...receiverReaders];
