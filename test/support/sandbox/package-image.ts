import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { extractImage } from '../../../activities/images/image-layout.ts';
import { openImages, type Images } from '../../../activities/images/images.ts';
import { architectureOfImages, shellWithLibraries, writeImage } from './oci-image.ts';

/** An `apt-get` without a network: the scripts in /packages are the packages. */
const aptGet = `#!/bin/sh
while [ "$1" != install ]; do
  [ $# -gt 0 ] || exit 0
  shift
done
shift
for name; do
  [ -f "/packages/\${name%%=*}" ] || { echo "E: Unable to locate package $name"; exit 100; }
  echo "Setting up $name ..."
  . "/packages/\${name%%=*}" || exit 100
done
`;

const programs = 'chmod chown cat cp id ls ln mkdir mkfifo mknod rm sleep'.split(' ').map((name) => `/bin/${name}`);

/** Name of the image, and of one without a package manager. */
export const packageImage = 'oci-archive:packages.tar';
export const plainImage = 'oci-archive:plain.tar';

/** Opens the images of a worker, one of which has packages: shell text that runs when they are installed, with `more` programs. */
export async function openPackageImages(
  directory: string,
  packages: Record<string, string>,
  more: readonly string[] = [],
): Promise<Images> {
  const archives = join(directory, 'archives');
  await mkdir(archives);
  const base = await shellWithLibraries(...programs, ...more);
  const accounts = ['passwd', 'group'].map((name) => ({ path: `etc/${name}`, content: 'root:x:0:0::/root:/bin/sh\n' }));
  const scripts = Object.entries(packages).map(([name, content]) => ({ path: `packages/${name}`, content }));
  const manager = { path: 'usr/bin/apt-get', content: aptGet, mode: 0o755 };
  const folders = ['usr/sbin', 'var/lib/apt/lists'].map((path) => ({ path, type: 'Directory' as const }));
  await writeImage(join(archives, 'packages.tar'), { layers: [base, [...folders, ...accounts, manager, ...scripts]] });
  await writeImage(join(archives, 'plain.tar'), { layers: [base] });
  return openImages({
    directory: join(directory, 'work'),
    allowed: [
      { kind: 'prefix', prefix: 'oci-archive:' },
      { kind: 'repository', text: 'registry.test/packages' },
    ],
    archives,
    pull: ({ folder, budget, signal }) => extractImage(join(archives, 'packages.tar'), folder, { budget, signal }),
    architecture: architectureOfImages,
    limits: { bytes: 200e6, entries: 1_000 },
    totalBytes: 2e9,
  });
}
