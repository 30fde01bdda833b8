import type { Pool } from 'pg';
import { ImagesFullError, writeImages, type ImageRef, type NamedImage } from '../jobs/job-images.ts';
import { withTransaction } from '../pool.ts';

export type WorkerImageStore = ReturnType<typeof createWorkerImageStore>;

/** Creates the worker's store of the images of jobs. */
export function createWorkerImageStore(pool: Pool) {
  return {
    /** Stores an image with its job, once; null when the job has room for no more. */
    async store(jobId: string, image: NamedImage): Promise<ImageRef | null> {
      try {
        return await withTransaction(pool, async (client) => {
          await client.query('select from jobs where id = $1 for update', [jobId]);
          const [ref = null] = await writeImages(client, jobId, [image]);
          return ref;
        });
      } catch (error) {
        if (error instanceof ImagesFullError) return null;
        throw error;
      }
    },

    /** Returns the contents of images of a job, by hash. */
    async read(jobId: string, hashes: readonly string[]): Promise<Map<string, Buffer>> {
      const { rows } = await pool.query<{ hash: string; content: Buffer }>(
        'select hash, content from job_images where job_id = $1 and hash = any($2)',
        [jobId, hashes],
      );
      return new Map(rows.map(({ hash, content }) => [hash, content]));
    },
  };
}
