import { textOf } from '../front-matter.ts';
import { noNavigation } from '../navigation.ts';
import { pathOf } from '../paths.ts';
import type { Layout } from './layout.ts';

/** Layout of the pages of a crawled website: they have been read already, and keep their own addresses. */
export const websiteLayout: Layout = {
  name: null,
  navigation: noNavigation,
  isParsed: true,
  place: ({ path, values }) => ({ path: pathOf(path), url: textOf(values.url) }),
};
