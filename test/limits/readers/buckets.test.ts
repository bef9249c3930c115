import { stayWithinLimits } from "../stay-within-limits.ts";
import { bucketReaders } from "./buckets.ts";

stayWithinLimits("buckets", "readers/buckets.ts", bucketReaders);
