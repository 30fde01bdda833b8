/** Waits for all promises even if one rejects, so that nothing is still running when the first error is thrown. */
export async function allOf<T extends readonly unknown[]>(work: { [K in keyof T]: Promise<T[K]> }): Promise<T> {
  const settled = await Promise.allSettled(work);
  for (const result of settled) if (result.status === 'rejected') throw result.reason;
  return Promise.all(work);
}
