import { isRecord } from '../front-matter.ts';
import { navigationFromTree, parseFile } from '../navigation.ts';
import type { Layout, SourceFiles } from './layout.ts';
import { locationBeside } from './plain.ts';

/** Mintlify: `docs.json`, or `mint.json` of older sites. */
export function mintlifyLayout(files: SourceFiles): Layout | null {
  for (const name of ['docs.json', 'mint.json']) {
    const config = parseFile(files.get(name));
    const navigation = isRecord(config) ? navigationFromTree(config.navigation, files) : null;
    if (!isRecord(config) || navigation === null || navigation.entries.size === 0) continue;
    const variables = isRecord(config.variables) ? config.variables : {};
    return {
      name: 'Mintlify',
      navigation,
      settings: variables,
      locate: (file) => locationBeside(file, navigation),
      prepare: (text) =>
        text.replace(/\{\{\s*([\w-]{1,80})\s*\}\}/g, (whole, key: string) =>
          typeof variables[key] === 'string' ? variables[key].slice(0, 500) : whole,
        ),
    };
  }
  return null;
}
