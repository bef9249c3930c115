import { stayWithinLimits } from "../stay-within-limits.ts";
import { engineReaders } from "./engine.ts";

stayWithinLimits("expressions and of what kustomize prints", "readers/engine.ts", engineReaders);
