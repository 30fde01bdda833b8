import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildProject } from '../../support/database/build.ts';
import { jpeg, pngOf } from '../../support/sandbox/images.ts';
import { serveCommands } from './served.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

it('sends images with a job and with a message', async () => {
  await using served = await serveCommands({ DOCKET_MODEL_PRICES: '{"offline/editor": {"images": true}}' });
  await buildProject(served.database.pool, { organizationId: served.org });
  const folder = temporaryDirectory();
  const [design, photo] = [join(folder, 'design'), join(folder, 'photo.JPG')];
  await writeFile(design, pngOf({ width: 7, height: 5 }));
  await writeFile(photo, jpeg);
  const { id } = await served.docketJson('job', 'create', 'Like this', '--image', design, '--image', photo);
  await served.docket('job', 'message', id, 'And this', '--image', design);
  const { rows } = await served.database.pool.query(
    `select images -> 0 ->> 'name' as first, jsonb_array_length(images) as count from job_turns where job_id = $1
     union all select images -> 0 ->> 'name', jsonb_array_length(images) from job_messages where job_id = $1`,
    [id],
  );
  expect(rows).toEqual([
    { first: 'design', count: 2 },
    { first: 'design', count: 1 },
  ]);
  await expect(served.docket('job', 'create', 'x', '--image', join(folder, 'none.png'))).rejects.toThrow(
    'none.png cannot be read',
  );
});
