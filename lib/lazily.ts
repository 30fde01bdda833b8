import { flushCompileCache } from 'node:module';

/**
 * Returns a function that makes a part at its first call, for packages that an idle process should not hold. The next
 * call repeats one that failed. What was compiled is kept at once: a killed process does not reach its exit.
 */
export function lazily<Part>(make: () => Promise<Part>): () => Promise<Part> {
  let part: Promise<Part> | null = null;
  async function begin(): Promise<Part> {
    try {
      const made = await make();
      flushCompileCache();
      return made;
    } catch (error) {
      part = null;
      throw error;
    }
  }
  return () => (part ??= begin());
}
