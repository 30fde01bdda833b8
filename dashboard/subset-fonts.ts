import subsetFont from 'subset-font';
import type { Plugin } from 'vite';

/** Characters of Latin scripts, and the punctuation, currency signs and arrows of the dashboard. */
const ranges: [first: number, last: number][] = [
  [0x0000, 0x02ff],
  [0x0304, 0x0304],
  [0x0308, 0x0308],
  [0x0329, 0x0329],
  [0x1d00, 0x1eff],
  [0x2000, 0x206f],
  [0x20a0, 0x20c0],
  [0x2113, 0x2122],
  [0x2191, 0x2215],
  [0x2c60, 0x2c7f],
  [0xa720, 0xa7ff],
  [0xfeff, 0xfffd],
];

/** Creates the plugin that reduces each font of a build to the characters above and to the weights in use. */
export function subsetFonts(): Plugin {
  const text = ranges
    .flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at)))
    .join('');
  return {
    name: 'subset-fonts',
    async generateBundle(_options, bundle) {
      for (const asset of Object.values(bundle)) {
        if (asset.type !== 'asset' || !asset.fileName.endsWith('.woff2')) continue;
        const options = { targetFormat: 'woff2', variationAxes: { wght: { min: 400, max: 700 } } } as const;
        asset.source = await subsetFont(Buffer.from(asset.source), text, options);
      }
    },
  };
}
