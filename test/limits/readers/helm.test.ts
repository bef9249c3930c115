import { stayWithinLimits } from "../stay-within-limits.ts";
import { helmReaders } from "./helm.ts";

stayWithinLimits("Helm repositories", "readers/helm.ts", helmReaders);
