import { JobLimitReached, runJob } from "../../threads/thread-job.ts";

export interface DecryptKeyJob {
  /** In the format of OpenSSH. */
  readonly text: string;
  readonly passphrase: string;
}

/** `fault`: the message of the client of SSH. */
export type DecryptedKey = { readonly pem: string } | { readonly fault: string };

const limits = { maxCpuMs: 10_000, maxWallMs: 60_000, maxHeapMb: 64 };

/**
 * Decrypts a private key in a thread: its key is derived by bcrypt, which takes 10 ms and more for each round, in which the process would
 * do nothing else. Never throws for a key or passphrase that is wrong.
 */
export async function decryptSshKey(job: DecryptKeyJob): Promise<DecryptedKey> {
  const program = new URL("./ssh-key-thread.ts", import.meta.url);
  try {
    return await runJob<DecryptedKey>(program, job, limits, new AbortController().signal);
  } catch (error) {
    if (!(error instanceof JobLimitReached)) throw error;
    return { fault: `it takes more than ${error.message}` };
  }
}
