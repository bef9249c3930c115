import { stayWithinLimits } from "../stay-within-limits.ts";
import { chartReaders } from "./charts.ts";

stayWithinLimits("charts of Helm", "readers/charts.ts", chartReaders);
