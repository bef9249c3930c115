import { stayWithinLimits } from "../stay-within-limits.ts";
import { gitReaders } from "./git.ts";

stayWithinLimits("git", "readers/git.ts", gitReaders);
