import { textOf } from '../front-matter.ts';
import { noNavigation } from '../navigation.ts';
import { pathOf } from '../paths.ts';
import type { Layout } from './layout.ts';

/** Layout of pages that have been read already, and keep their own addresses: of a crawled website, or of issues. */
export const websiteLayout: Layout = {
  name: null,
  navigation: noNavigation,
  isParsed: true,
  locate: ({ path, values }) => ({ path: pathOf(path), url: textOf(values.url) }),
};
