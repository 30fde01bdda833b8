import type { FilePart, ModelMessage, TextPart, UserModelMessage } from 'ai';
import { describeImage, imageTypes } from '../../lib/images/image.ts';
import type { Prompt } from '../../db/for-worker/jobs.ts';
import type { ImageRef } from '../../db/jobs/job-images.ts';

/** Length that an image counts for in a message, in characters: about as many tokens as providers count for a large one. */
export const imageCharacters = 15_000;

/** Reads contents of images, by hash. */
export type ReadImages = (hashes: readonly string[]) => Promise<ReadonlyMap<string, Buffer>>;

const provider = 'docket';

/** Returns a message of a person, with its images by reference. Without any, the content is the text alone. */
export function userMessageOf({ prompt, images = [] }: Pick<Prompt, 'prompt' | 'images'>): UserModelMessage {
  if (images.length === 0) return { role: 'user', content: prompt };
  return { role: 'user', content: [{ type: 'text', text: prompt }, ...images.map(partOf)] };
}

/** Returns the images that tools have read, after their results: not every provider accepts images in those. */
export function shownImages(images: readonly ImageRef[]): UserModelMessage {
  const names = images.map(({ name }) => name ?? 'an image').join(', ');
  return {
    role: 'user',
    content: [{ type: 'text', text: `(Images that you have read: ${names})` }, ...images.map(partOf)],
  };
}

/** The content is named by its hash, so that a request has the same hash and length whatever it shows. */
function partOf({ hash, mediaType, width, height, name }: ImageRef): FilePart {
  const filename = name === null ? {} : { filename: name };
  const reference = { [provider]: hash, size: describeImage({ mediaType, width, height }) };
  return { type: 'file', mediaType, data: { type: 'reference', reference }, ...filename };
}

/** Counts the images of a message; they are its only files. */
export function imagesIn({ content }: ModelMessage): number {
  return typeof content === 'string' ? 0 : content.filter((part) => part.type === 'file').length;
}

/**
 * Returns messages with the contents of their images instead of the references, or with sentences where the model cannot
 * see them.
 */
export async function withImages(
  messages: ModelMessage[],
  { read, unseen }: { read: ReadImages; unseen: string | undefined },
): Promise<ModelMessage[]> {
  const hashes = messages.flatMap((message) => partsOf(message).flatMap((part) => hashOf(part) ?? []));
  if (hashes.length === 0) return messages;
  const contents = unseen === undefined ? await read([...new Set(hashes)]) : new Map<string, Buffer>();
  return messages.map((message) => {
    if (message.role !== 'user' || typeof message.content === 'string') return message;
    const content = message.content.map((part) => {
      const hash = hashOf(part);
      if (hash === null || part.type !== 'file') return part;
      const data = contents.get(hash);
      return data === undefined ? unseenPart(part, unseen ?? 'is no longer stored') : { ...part, data };
    });
    return { ...message, content };
  });
}

function partsOf({ content }: ModelMessage) {
  return typeof content === 'string' ? [] : content;
}

function hashOf(part: ReturnType<typeof partsOf>[number]): string | null {
  return referenceOf(part)?.[provider] ?? null;
}

function referenceOf(part: ReturnType<typeof partsOf>[number]): Record<string, string> | null {
  if (part.type !== 'file' || typeof part.data !== 'object' || !('type' in part.data)) return null;
  return part.data.type === 'reference' && imageTypes.some((type) => type === part.mediaType)
    ? part.data.reference
    : null;
}

function unseenPart(part: FilePart, reason: string): TextPart {
  const { filename = 'an image', providerOptions } = part;
  const size = referenceOf(part)?.['size'] ?? part.mediaType;
  return { type: 'text', text: `[${filename} (${size}) ${reason}.]`, ...(providerOptions && { providerOptions }) };
}
