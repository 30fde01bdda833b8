import { execFile } from 'node:child_process';
import { chmod, chown, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openImages, type Images } from '../../../activities/images/images.ts';
import { createPuller } from '../../../activities/images/pull-image.ts';
import { hasSkopeo, startRegistry, type ImageRegistry } from '../../support/servers/image-registry.ts';
import { architectureOfImages, blobsOf, type LayerEntry } from '../../support/sandbox/oci-image.ts';
import { processesNamed } from '../../support/sandbox/sandbox.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const skopeo = '/usr/bin/skopeo';
const isInstalled = await hasSkopeo(skopeo);

const otherUid = 64_322;
const pullProgram = resolve(import.meta.dirname, '../../support/sandbox/pull-as-user.ts');
/** Only root can close a folder to another user, who has to read this checkout. */
const canBeOther =
  process.getuid?.() === 0 &&
  (await promisify(execFile)('setpriv', [`--reuid=${otherUid}`, '--clear-groups', 'test', '-r', pullProgram]).then(
    () => true,
    () => false,
  ));

const live = new AbortController().signal;
const shell: LayerEntry = { path: 'bin/sh', content: '#!', mode: 0o755 };
const tool = { layers: [[shell, { path: 'tool', content: 'pulled' }]] };
// zeros, so that little is transferred
const large = { layers: [[shell, { path: 'zeros', content: Buffer.alloc(3e6) }]], isCompressed: false };

describe.runIf(isInstalled)('an image in a registry', () => {
  let registry: ImageRegistry;
  let directory: string;
  let images: Images;
  const before = process.env['HOME'];

  beforeAll(async () => {
    registry = await startRegistry({ tool, large, slow: tool });
    directory = temporaryDirectory();
    const settings = join(directory, '.config/containers');
    await mkdir(settings, { recursive: true });
    await writeFile(
      join(settings, 'registries.conf'),
      `[[registry]]\nlocation = "${registry.host}"\ninsecure = true\n`,
    );
    process.env['HOME'] = directory;
    images = await openImages({
      directory: join(directory, 'work'),
      allowed: [{ kind: 'prefix', prefix: '127.0.0.1:' }],
      archives: null,
      pull: createPuller(skopeo, architectureOfImages),
      architecture: architectureOfImages,
      limits: { bytes: 2e6, entries: 1_000 },
      totalBytes: 1e9,
    });
  });
  afterAll(async () => {
    await registry[Symbol.asyncDispose]();
    process.env['HOME'] = before;
  });

  it('is pulled once, by tag or by digest', async () => {
    const { digest } = blobsOf(tool).manifest;
    for (const name of ['tool:1', `tool@${digest}`, 'tool:1']) {
      const image = await images.provide(`${registry.host}/${name}`, live);
      expect(await readFile(join(image.directory, 'tool'), 'utf8')).toBe('pulled');
    }
    expect(registry.asked.filter((path) => path.endsWith('/manifests/1'))).toHaveLength(1);
  });

  it.runIf(canBeOther)(
    'is pulled by an ordinary user who may not enter /run/containers',
    { tags: 'slow' },
    async () => {
      const home = join(directory, 'other');
      await cp(join(directory, '.config'), join(home, '.config'), { recursive: true });
      await chmod(directory, 0o755);
      await chown(home, otherUid, otherUid);
      const { XDG_RUNTIME_DIR: _runtime, REGISTRY_AUTH_FILE: _auth, ...env } = process.env;
      // a folder /run of its own, as a login of root leaves it
      const closed = 'mount -t tmpfs tmpfs /run && mkdir -m 700 /run/containers && exec "$@"';
      const asOther = ['/usr/bin/setpriv', `--reuid=${otherUid}`, `--regid=${otherUid}`, '--clear-groups'];
      const pull = [process.execPath, pullProgram, `${registry.host}/tool:1`, join(home, 'work'), 'tool'];
      const args = ['--mount', 'sh', '-c', closed, 'sh', ...asOther, ...pull];
      const { stdout } = await promisify(execFile)('unshare', args, { env: { ...env, HOME: home } });
      expect(stdout).toBe('pulled\n');
    },
  );

  it('is refused if it does not exist or needs a credential', async () => {
    for (const name of ['tool:2', 'gone:1', 'secret:1', `tool@sha256:${'0'.repeat(64)}`]) {
      await expect(images.provide(`${registry.host}/${name}`, live)).rejects.toMatchObject({
        kind: 'refused',
        message: `The image ${registry.host}/${name} does not exist, or this worker may not pull it. Check its name and the registry's credentials.`,
      });
    }
  });

  it('is unavailable if the registry is', async () => {
    const gone = await startRegistry({});
    await gone[Symbol.asyncDispose]();
    await expect(images.provide(`${gone.host}/tool:1`, live)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('is refused if it is too large, before it is whole on the disk', async () => {
    await expect(images.provide(`${registry.host}/large:1`, live)).rejects.toMatchObject({ kind: 'refused' });
    expect(await readdir(join(directory, 'work/images/unfinished'))).toEqual([]);
  });

  it('stops being pulled when the job ends, and leaves nothing', async () => {
    const controller = new AbortController();
    const pulled = images.provide(`${registry.host}/slow:1`, controller.signal);
    while (!registry.asked.some((path) => path.startsWith('/v2/slow/blobs/')))
      await new Promise((resolve) => setTimeout(resolve, 20));
    controller.abort(new Error('cancelled by the test'));
    await expect(pulled).rejects.toThrow('cancelled by the test');
    expect(await processesNamed(`${registry.host}/slow`)).toEqual([]);
    expect(await readdir(join(directory, 'work/images/unfinished'))).toEqual([]);
  });
});
