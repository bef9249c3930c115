import { stayWithinLimits } from "../stay-within-limits.ts";
import { sopsReaders } from "./sops.ts";

stayWithinLimits("files of sops", "readers/sops.ts", sopsReaders);
