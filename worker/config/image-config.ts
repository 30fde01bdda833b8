import { resolve } from 'node:path';
import { z } from 'zod';
import { parseAllowedImages, parseImageName, type AllowedImage } from '../../lib/inputs/image-name.ts';
import { wholeNumber } from '../../lib/config/read-variables.ts';

/** Images that commands may run in. */
export type ImageConfig = ReturnType<typeof imagesOf>;

const maxFiles = 500_000;

export const imageVariables = z.object({
  DOCKET_IMAGE: z
    .string()
    .refine((text) => parseImageName(text) !== null, 'must be the name of an image')
    .optional(),
  DOCKET_IMAGES: z.string().transform(allowedOf).default([]),
  DOCKET_IMAGE_DIRECTORY: z.string().optional(),
  DOCKET_IMAGE_PROGRAM: z
    .string()
    .regex(/^\/(?:.*\/)?(?:skopeo|podman|docker)$/, 'must be the path of skopeo, podman or docker')
    .optional(),
  DOCKET_IMAGE_MB: wholeNumber(1, 1_000_000).default(4_000),
  DOCKET_IMAGES_GB: wholeNumber(1, 100_000).default(20),
});

function allowedOf(text: string, context: z.RefinementCtx): AllowedImage[] {
  const parsed = parseAllowedImages(text);
  if (parsed !== null) return parsed;
  context.addIssue({ code: 'custom', message: 'must be names of images (or host/*), separated by commas' });
  return z.NEVER;
}

/** Returns the settings of images. The operator's own image needs no further permission. */
export function imagesOf(env: z.output<typeof imageVariables>) {
  const { DOCKET_IMAGE: standard = null, DOCKET_IMAGES: named, DOCKET_IMAGE_DIRECTORY: archives } = env;
  const own = standard === null ? null : parseImageName(standard);
  const allowed: AllowedImage[] = own === null ? named : [...named, { kind: 'exact', text: own.text }];
  return {
    /** Image of jobs that name none; null for the worker's own programs. */
    standard,
    allowed,
    /** Folder with archives of images; null for none. */
    archives: archives === undefined ? null : resolve(archives),
    /** Program that pulls images; null for the first one that is installed. */
    program: env.DOCKET_IMAGE_PROGRAM ?? null,
    limits: { bytes: env.DOCKET_IMAGE_MB * 1e6, entries: maxFiles },
    /** Disk space limit of all unpacked images. */
    totalBytes: env.DOCKET_IMAGES_GB * 1e9,
  };
}
