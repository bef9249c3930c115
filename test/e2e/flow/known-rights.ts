import { vi } from "vitest";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { deadlineMs } from "../../deadline.ts";

type Attempt = () => Promise<unknown>;

const patient = { timeout: deadlineMs, interval: 20 };

async function isForbidden(attempt: Attempt): Promise<boolean> {
  try {
    await attempt();
    return false;
  } catch (error) {
    if (error instanceof ApiError && error.reason === "Forbidden") return true;
    throw error;
  }
}

async function until(wanted: boolean, attempt: Attempt): Promise<void> {
  const isAsWanted = async (): Promise<void> => {
    if ((await isForbidden(attempt)) !== wanted)
      throw new Error(`it is ${wanted ? "still allowed" : "still forbidden"}`);
  };
  await vi.waitFor(isAsWanted, patient);
}

/** Waits until the API server goes by the roles and bindings that allow this, which it does a moment after they are there. */
export const untilAllowed = (attempt: Attempt): Promise<void> => until(false, attempt);

/** Waits until the API server goes by the roles and bindings that no longer allow this. */
export const untilForbidden = (attempt: Attempt): Promise<void> => until(true, attempt);
