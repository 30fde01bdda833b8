import { expect, it } from 'vitest';
import { optionsOfScript } from '../../../../dashboard/widget/widget-options.ts';

const optionsOf = (dataset: Record<string, string | undefined>) =>
  optionsOfScript({ dataset, src: 'https://docket.example.com/widget.js' } as unknown as HTMLScriptElement);

it('are read from the script tag, unless the page starts the chat itself', () => {
  const named = { baseUrl: 'https://docket.example.com/', site: 'docs', apiKey: 'pk_1' };
  expect(optionsOf({ site: 'docs', key: 'pk_1' })).toEqual(named);
  expect(optionsOf({})).toBeNull();
});

it.each([{ domain: 'docs', key: 'pk_1' }, { site: 'docs' }])('need both attributes, not %j', (dataset) => {
  expect(() => optionsOf(dataset)).toThrow('data-site and data-key');
});
