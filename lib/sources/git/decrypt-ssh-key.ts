import type { Tenant } from "../../core/tenant.ts";
import { inTurnsOf, JobLimitReached, runJob } from "../../threads/thread-job.ts";

export interface DecryptKeyJob {
  /** In the format of OpenSSH. */
  readonly text: string;
  readonly passphrase: string;
}

/** Whose key it is, and until when it is wanted. */
export interface KeyReader {
  readonly tenant: Tenant;
  readonly signal: AbortSignal;
}

/** `fault`: the message of the client of SSH. */
export type DecryptedKey = { readonly pem: string } | { readonly fault: string };

const limits = { maxCpuMs: 10_000, maxWallMs: 60_000, maxHeapMb: 64 };

/**
 * Decrypts a private key in a thread: its key is derived by bcrypt, which takes 10 ms and more for each round, in which the process would
 * do nothing else. Waits for the tenant's turn. Never throws for a key or passphrase that is wrong.
 *
 * @throws the reason `signal` was aborted with
 */
export async function decryptSshKey(job: DecryptKeyJob, { tenant, signal }: KeyReader): Promise<DecryptedKey> {
  const program = new URL("./ssh-key-thread.ts", import.meta.url);
  try {
    return await inTurnsOf(tenant, () => runJob<DecryptedKey>(program, job, limits, signal));
  } catch (error) {
    if (!(error instanceof JobLimitReached)) throw error;
    return { fault: `it takes more than ${error.message}` };
  }
}
