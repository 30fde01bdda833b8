import { flushCompileCache } from 'node:module';

/**
 * Returns a function that creates a value at its first call, for packages that an idle process should not load. A
 * failed call is repeated by the next one. Node's compile cache is flushed at once, because a killed process would
 * never write it.
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
