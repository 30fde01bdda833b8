import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openImages } from '../../../activities/images/images.ts';
import { createPuller } from '../../../activities/images/pull-image.ts';
import { architectureOfImages } from './oci-image.ts';

// Pulls an image under the account that the test chooses, and prints a file of it: NAME DIRECTORY FILE.
const [name = '', directory = '', file = ''] = process.argv.slice(2);
const images = await openImages({
  directory,
  allowed: [{ kind: 'prefix', prefix: '127.0.0.1:' }],
  archives: null,
  pull: createPuller('/usr/bin/skopeo', architectureOfImages),
  architecture: architectureOfImages,
  limits: { bytes: 2e6, entries: 1_000 },
  totalBytes: 1e9,
});
const image = await images.provide(name, AbortSignal.timeout(60_000));
console.log(await readFile(join(image.directory, file), 'utf8'));
