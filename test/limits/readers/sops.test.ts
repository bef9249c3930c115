import { stayWithinLimits } from "../stay-within-limits.ts";
import { sopsReaders } from "./sops.ts";

stayWithinLimits("files of sops", sopsReaders);
