import { createHash } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { z } from 'zod';
import { imageTypes, type Image } from '../../lib/images/image.ts';
import type { Owner } from '../caller.ts';
import { onlyRow } from '../rows.ts';
import { isJobOf } from './job-statements.ts';

/** An image that a prompt or the result of a tool shows. Its content is stored once for its job. */
export const imageRefSchema = z.object({
  hash: z.string(),
  mediaType: z.enum(imageTypes),
  width: z.number(),
  height: z.number(),
  /** Name of its file; null when it has none. */
  name: z.string().nullable(),
});
export type ImageRef = z.infer<typeof imageRefSchema>;

export type NamedImage = Image & { name: string | null };

/** Images of a job: all of them are sent with each call of its model. */
export const maxJobImages = 20;
const maxJobImageBytes = 16 * 1024 * 1024;

const sentence = `A job has at most ${maxJobImages} images with ${maxJobImageBytes / 1024 / 1024} MB together, those that its agent has read included. Create another job.`;

/** The images of a job would be too many or too large. */
export class ImagesFullError extends Error {
  override name = 'ImagesFullError';
}

/** Stores images with a job that the transaction holds, unless it has them. Throws ImagesFullError. */
export async function writeImages(
  client: PoolClient,
  jobId: string,
  images: readonly NamedImage[],
): Promise<ImageRef[]> {
  if (images.length === 0) return [];
  const refs = images.map(refOf);
  await client.query(
    `insert into job_images (job_id, hash, content) select $1, hash, content
     from unnest($2::text[], $3::bytea[]) as given (hash, content) on conflict do nothing`,
    [jobId, refs.map(({ hash }) => hash), images.map(({ bytes }) => Buffer.from(bytes))],
  );
  const { rows } = await client.query<{ count: number; bytes: number }>(
    'select count(*)::integer as count, sum(length(content))::float8 as bytes from job_images where job_id = $1',
    [jobId],
  );
  const { count, bytes } = onlyRow(rows);
  if (count > maxJobImages || bytes > maxJobImageBytes) throw new ImagesFullError(sentence);
  return refs;
}

export function refOf({ bytes, mediaType, width, height, name }: NamedImage): ImageRef {
  return { hash: createHash('sha256').update(bytes).digest('hex'), mediaType, width, height, name };
}

export type JobImageStore = ReturnType<typeof createJobImageStore>;

/** Creates the store of the images of an organization's jobs. */
export function createJobImageStore(pool: Pool) {
  return {
    /** Returns the content of an image; null when the job has none with this hash. */
    async content({ organizationId }: Owner, jobId: string, hash: string): Promise<Buffer | null> {
      const { rows } = await pool.query<{ content: Buffer }>(
        `select content from job_images where job_id = $1 and hash = $2 and ${isJobOf('$1', '$3')}`,
        [jobId, hash, organizationId],
      );
      return rows[0]?.content ?? null;
    },
  };
}
