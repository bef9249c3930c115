import { stayWithinLimits } from "../stay-within-limits.ts";
import { generatorReaders } from "./generator.ts";

stayWithinLimits("artifacts made of others", "readers/generator.ts", generatorReaders);
