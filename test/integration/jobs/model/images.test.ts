import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openImages, type Images } from '../../../../activities/images/images.ts';
import { startCommandScene } from '../../../support/sandbox/command-scene.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { recordHistory } from '../../../support/database/histories.ts';
import { architectureOfImages, shellWithLibraries, writeImage } from '../../../support/sandbox/oci-image.ts';
import { accountsWithSandbox } from '../../../support/sandbox/sandbox.ts';
import { jobWorkflowId } from '../../../../workflows/contract/messages.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const { accounts } = await accountsWithSandbox();
const finish = { name: 'finish', input: { title: 'Change it', summary: 'Changed.' } };
const run = (command: string) => ({ name: 'run', input: { command } });

describe.runIf(accounts.length > 0)('a job whose environment names an image', () => {
  let database: TestDatabase;
  let directory: string;
  let images: Images;
  beforeAll(async () => {
    database = await createTestDatabase();
    directory = temporaryDirectory();
    await mkdir(join(directory, 'archives'));
    const image = { layers: [await shellWithLibraries()], variables: ['GREETING=from the image'] };
    await writeImage(join(directory, 'archives/tools.tar'), image);
    const other = { ...image, variables: ['GREETING=from the other image'] };
    await writeImage(join(directory, 'archives/other-tools.tar'), other);
    images = await openImages({
      directory: join(directory, 'work'),
      allowed: [{ kind: 'prefix', prefix: 'oci-archive:' }],
      archives: join(directory, 'archives'),
      pull: null,
      architecture: architectureOfImages,
      limits: { bytes: 100e6, entries: 1_000 },
      totalBytes: 1e9,
    });
  });
  afterAll(async () => {
    await database[Symbol.asyncDispose]();
  });
  const startScene = () =>
    startCommandScene(database, ({ commands }) => ({
      commands: commands && { ...commands, images: { ...images, standard: null } },
    }));

  it('runs its setup, its commands and its check with the programs of the image', { tags: ['slow'] }, async () => {
    await using scene = await startScene();
    const { repository, model, worker } = scene;
    const look = '[ ! -e /usr/bin/git ] && echo "$GREETING" >';
    let projectId: string | undefined;
    for (const [image, said] of [
      ['tools', 'from the image'],
      // the setup of one image is not used in the other
      ['other-tools', 'from the other image'],
    ] as const) {
      await repository.commit({
        '.docket/environment.yml': `image: oci-archive:${image}.tar\nsetup: ${JSON.stringify(`${look} ~/setup`)}\ncheck: '[ -s file.txt ]'\n`,
      });
      model.script(
        { toolCalls: [run(`${look} file.txt; read line < ~/setup; echo "setup said $line"`)] },
        { toolCalls: [finish] },
      );
      const job = await worker.runJob({ prompt: 'Look', repository: repository.path, projectId });
      projectId = job.projectId;
      expect(job).toMatchObject({ status: 'completed', check: { result: 'passed' } });
      expect(await repository.read(job.headCommit!)).toMatchObject({ 'file.txt': `100644 ${said}` });
      expect(JSON.stringify(model.requests.at(-1)!.body)).toContain(`setup said ${said}`);
    }
  });

  async function expectUnavailable(image: string, message: string): Promise<void> {
    await using scene = await startScene();
    await scene.repository.commit({ '.docket/environment.yml': `image: ${image}\n` });
    const job = await scene.worker.runJob({ prompt: 'Look', repository: scene.repository.path });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'image_unavailable', message });
    expect(scene.model.requests).toEqual([]);
    if (image !== 'python:3.13') {
      const execution = scene.worker.client.workflow.getHandle(jobWorkflowId(job.id, 1));
      await recordHistory('failed-image-unavailable', execution);
    }
  }

  it.each([['oci-archive:gone.tar', 'The image oci-archive:gone.tar is not in DOCKET_IMAGE_DIRECTORY.']])(
    'fails at once, with one sentence, if the image cannot be used: %s',
    expectUnavailable,
  );
  it.each([
    [
      'python:3.13',
      'The operator does not allow the image docker.io/library/python:3.13. Ask for it in DOCKET_IMAGES.',
    ],
  ])('fails at once, with one sentence, if the image cannot be used: %s', { tags: 'slow' }, expectUnavailable);
});
