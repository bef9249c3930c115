import { stayWithinLimits } from "../stay-within-limits.ts";
import { gitReaders } from "./git.ts";

stayWithinLimits("git", gitReaders);
