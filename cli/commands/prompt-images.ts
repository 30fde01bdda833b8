import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { paths } from '../../dashboard/http/schema.d.ts';
import { CommandError } from '../command-error.ts';
import { collect } from './options.ts';

type Message = paths['/v2/agent/{projectId}/job/{id}/message']['post']['requestBody']['content']['application/json'];

export const imageOption = [
  '--image <file>',
  'PNG, JPEG, GIF or WebP for a model that can see (repeatable)',
  collect,
] as const;

/** Reads files of images for a prompt. The service recognizes an image by its content. */
export function imagesOf(files: readonly string[] = []): Promise<NonNullable<Message['images']>> {
  return Promise.all(
    files.map(async (file) => {
      const type = extname(file).slice(1).toLowerCase().replace('jpg', 'jpeg') || 'png';
      const content = await readFile(file, 'base64').catch((cause: unknown) => {
        throw new CommandError(`${file} cannot be read.`, { cause });
      });
      return { filename: basename(file), url: `data:image/${type.replaceAll(/[^a-z]/g, '')};base64,${content}` };
    }),
  );
}
