import { stayWithinLimits } from "../stay-within-limits.ts";
import { notifyReaders } from "./notify.ts";

stayWithinLimits("answers to notifications", "readers/notify.ts", notifyReaders);
