import { stayWithinLimits } from "../stay-within-limits.ts";
import { archiveReaders } from "./archives.ts";

stayWithinLimits("archives", "readers/archives.ts", archiveReaders);
