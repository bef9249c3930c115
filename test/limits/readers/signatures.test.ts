import { stayWithinLimits } from "../stay-within-limits.ts";
import { signatureReaders } from "./signatures.ts";

stayWithinLimits("signatures", "readers/signatures.ts", signatureReaders);
