import { stayWithinLimits } from "../stay-within-limits.ts";
import { manifestReaders } from "./manifests.ts";

stayWithinLimits("manifests", "readers/manifests.ts", manifestReaders);
