import type { Layout, RecognizeLayout, SourceFiles } from './layout.ts';
import { mintlifyLayout } from './mintlify.ts';
import { mkdocsLayout } from './mkdocs.ts';
import { plainLayout } from './plain.ts';

/** In this order; the first that recognizes its configuration arranges the site. */
const layouts: RecognizeLayout[] = [mintlifyLayout, mkdocsLayout];

/** Returns the layout of a site's files. */
export function recognizeLayout(files: SourceFiles): Layout {
  for (const recognize of layouts) {
    const layout = recognize(files);
    if (layout !== null) return layout;
  }
  return plainLayout(files);
}
