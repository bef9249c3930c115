/**
 * What `Promise.all` answers, but where one fails the others have ended too before it throws, so that nothing of a run goes
 * on behind its end. Throws the failure of the first in order.
 */
export async function allEnded<const Work extends readonly Promise<unknown>[]>(
  work: Work,
): Promise<{ -readonly [Index in keyof Work]: Awaited<Work[Index]> }> {
  await Promise.allSettled(work);
  return await Promise.all(work);
}
