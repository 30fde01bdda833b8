import { z } from 'zod';
import type { NamedImage } from '../../db/jobs/job-images.ts';
import { maxImageBytes, readImage } from '../../lib/images/image.ts';
import { closedBody } from '../http/closed-object.ts';
import { invalidRequest } from '../http/errors.ts';

const maxImages = 5;
const maxBytes = 6 * 1024 * 1024;
/** Bytes that a request body may have in addition for the images of its prompt. */
export const imagesBytes = (maxBytes * 4) / 3 + 64 * 1024;

const dataUrl = /^data:image\/[a-z+.-]{1,20};base64,/;

const imageSchema = closedBody({
  type: z.literal('file').optional(),
  mediaType: z.string().max(100).optional().meta({ description: 'Ignored: the content decides.' }),
  filename: z.string().trim().min(1).max(200).optional(),
  url: z
    .string()
    .max(Math.ceil((maxImageBytes * 4) / 3) + 100, `must have at most ${maxImageBytes / 1024 / 1024} MB`)
    .meta({ description: 'The image as a data URL: data:image/png;base64,…' }),
}).transform(({ url, filename }, context): NamedImage => {
  const read = readDataUrl(url);
  if ('image' in read) return { ...read.image, name: filename ?? null };
  context.addIssue(read.problem);
  return z.NEVER;
});

/** Images of a prompt, in the form of the AI SDK's file parts. */
export const imagesSchema = z
  .array(imageSchema)
  .max(maxImages)
  .refine(
    (images) => images.reduce((sum, { bytes }) => sum + bytes.length, 0) <= maxBytes,
    `must have at most ${maxBytes / 1024 / 1024} MB together`,
  )
  .meta({
    description:
      'Images for a model that can see: PNG, JPEG, GIF or WebP as file parts of the AI SDK, such as {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,…"}.',
  });

function readDataUrl(url: string): ReturnType<typeof readImage> {
  const [start] = dataUrl.exec(url.slice(0, 100)) ?? [];
  if (start === undefined) return { kind: null, problem: 'must be a data URL of an image: data:image/png;base64,…' };
  const text = url.slice(start.length);
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) return { kind: null, problem: 'is not in base64' };
  return readImage(bytes);
}

/** Throws ApiError for images that the model of a job cannot see. */
export function checkImages(
  images: readonly NamedImage[],
  model: string,
  seesImages: (model: string) => boolean,
): void {
  if (images.length === 0 || seesImages(model)) return;
  throw invalidRequest(
    `The model ${model} cannot see images. Leave them out, or name a model that can (images in DOCKET_MODEL_PRICES).`,
  );
}
