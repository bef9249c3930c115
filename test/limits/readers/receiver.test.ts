import { stayWithinLimits } from "../stay-within-limits.ts";
import { receiverReaders } from "./receiver.ts";

stayWithinLimits("deliveries", "readers/receiver.ts", receiverReaders);
