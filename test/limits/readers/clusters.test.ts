import { stayWithinLimits } from "../stay-within-limits.ts";
import { clusterReaders } from "./clusters.ts";

stayWithinLimits("answers and kubeconfigs of clusters", "readers/clusters.ts", clusterReaders);
