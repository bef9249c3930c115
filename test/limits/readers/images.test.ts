import { stayWithinLimits } from "../stay-within-limits.ts";
import { imageReaders } from "./images.ts";

stayWithinLimits("tags of images", "readers/images.ts", imageReaders);
