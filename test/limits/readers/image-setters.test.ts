import { stayWithinLimits } from "../stay-within-limits.ts";
import { imageSetterReaders } from "./image-setters.ts";

stayWithinLimits("image policy markers", "readers/image-setters.ts", imageSetterReaders);
