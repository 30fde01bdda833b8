import { ImageError } from './image-error.ts';

export interface ImageLimits {
  bytes: number;
  entries: number;
}

/** Disk space and files that an image may have, counted over its layers. */
export type ImageBudget = ReturnType<typeof createImageBudget>;

/** Creates the budget of one image, from which all of its layers are paid. */
export function createImageBudget(limits: ImageLimits) {
  let bytesLeft = limits.bytes;
  let entriesLeft = limits.entries;
  return {
    /** Throws ImageError once the image is too large. */
    spend({ bytes = 0, entries = 0 }: { bytes?: number; entries?: number }): void {
      bytesLeft -= bytes;
      entriesLeft -= entries;
      if (bytesLeft < 0)
        throw new ImageError(
          'refused',
          'The image is larger than DOCKET_IMAGE_MB. Use a smaller one, or raise the limit.',
        );
      if (entriesLeft < 0)
        throw new ImageError('refused', `The image has more than ${limits.entries} files. Use a smaller one.`);
    },
  };
}
