import { antoraLayout } from './antora.ts';
import { docusaurusLayout } from './docusaurus.ts';
import { gitbookLayout } from './gitbook.ts';
import { hugoLayout } from './hugo/hugo.ts';
import type { Layout, RecognizeLayout, SourceFiles } from './layout.ts';
import { mikeLayout } from './mike.ts';
import { mintlifyLayout } from './mintlify.ts';
import { mkdocsLayout } from './mkdocs.ts';
import { plainLayout } from './plain.ts';
import { sphinxLayout } from './sphinx.ts';
import { starlightLayout } from './starlight.ts';
import { vitepressLayout } from './vitepress.ts';

/** In order of precedence: unmistakable configuration files first, names that several tools use last. */
const layouts: RecognizeLayout[] = [
  mintlifyLayout,
  mkdocsLayout,
  mikeLayout,
  docusaurusLayout,
  vitepressLayout,
  starlightLayout,
  antoraLayout,
  gitbookLayout,
  sphinxLayout,
  hugoLayout,
];

/** Returns the layout of a site's files. */
export function recognizeLayout(files: SourceFiles): Layout {
  for (const recognize of layouts) {
    const layout = recognize(files);
    if (layout !== null) return layout;
  }
  return plainLayout(files);
}
