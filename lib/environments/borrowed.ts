import { parseImageName } from '../inputs/image-name.ts';
import { parseEnvironment, type Environment } from './environment.ts';

/** Environment read from a description that was made for another product. */
export interface BorrowedEnvironment {
  environment: Environment;
  /** Parts that were not understood, as phrases. */
  ignored: string[];
}

/** Returns the parts as a checked environment; one that is beyond the limits is ignored as a whole. */
export function borrowed(environment: Environment, ignored: string[]): BorrowedEnvironment {
  const parsed = parseEnvironment(JSON.stringify(environment));
  if (parsed.ok) return { environment: parsed.environment, ignored };
  return { environment: {}, ignored: [`everything, because it ${parsed.problem}`] };
}

/** The image of an environment; null if what was read is no name of an image in a registry. */
export type PlainImage = Pick<Environment, 'image'> | null;

/** Returns the name of an image in a registry, as a part of an environment. */
export function plainImage(value: unknown): PlainImage {
  return typeof value === 'string' && parseImageName(value)?.kind === 'registry' ? { image: value } : null;
}
