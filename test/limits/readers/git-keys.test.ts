import { stayWithinLimits } from "../stay-within-limits.ts";
import { gitKeyReaders } from "./git-keys.ts";

stayWithinLimits("keys and packed answers of git", "readers/git-keys.ts", gitKeyReaders);
