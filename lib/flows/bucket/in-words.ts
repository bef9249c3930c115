import { Failure } from "../../core/failure.ts";
import { BucketFault } from "../../sources/bucket/object-store.ts";

/** A fault of the bucket as Flux tells it. Other errors (a bug, the end of the run) are rethrown. */
export async function inWords<Result>(doing: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BucketFault)) throw error;
    throw new Failure("BucketOperationFailed", `${doing}: ${error.message}`, { cause: error });
  }
}
