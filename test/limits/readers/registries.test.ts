import { stayWithinLimits } from "../stay-within-limits.ts";
import { registryReaders } from "./registries.ts";

stayWithinLimits("registries", registryReaders);
