import { ImageError } from './image-error.ts';

/** Disk space and files that an image may have, counted over its layers. */
export interface ImageBudget {
  /** Throws ImageError once the image is too large. */
  spend(use: { bytes?: number; entries?: number }): void;
}

export interface ImageLimits {
  bytes: number;
  entries: number;
}

/** Creates the budget of one image, from which all of its layers are paid. */
export function createImageBudget(limits: ImageLimits): ImageBudget {
  let bytesLeft = limits.bytes;
  let entriesLeft = limits.entries;
  return {
    spend({ bytes = 0, entries = 0 }) {
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
