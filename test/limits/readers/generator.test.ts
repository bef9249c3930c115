import { stayWithinLimits } from "../stay-within-limits.ts";
import { generatorReaders } from "./generator.ts";

stayWithinLimits("artifacts made of others", generatorReaders);
