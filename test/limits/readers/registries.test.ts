import { stayWithinLimits } from "../stay-within-limits.ts";
import { registryReaders } from "./registries.ts";

stayWithinLimits("registries", "readers/registries.ts", registryReaders);
