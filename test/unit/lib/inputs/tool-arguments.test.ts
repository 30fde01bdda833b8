import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { flag, parseTool, seedOption, wholeNumber } from '../../../../lib/inputs/tool-arguments.ts';

const tool = {
  command: 'npm run fuzz --',
  about: 'Sends requests.',
  options: {
    requests: wholeNumber().default(100).describe('requests to send'),
    load: flag().describe('keeps all processors busy'),
    report: z.string().optional().describe('file for the table'),
    seed: seedOption(),
  },
};
const hint = '"npm run fuzz -- --help" lists the options.';
const refusal = (...args: string[]) => {
  const parsed = parseTool(tool, args);
  return parsed.kind === 'refused' ? parsed.sentence : parsed.kind;
};

describe('arguments of a tool', () => {
  it('returns options with their types and defaults', () => {
    expect(parseTool(tool, ['--load', '--requests=7', '--seed', '8', '--report', 'a b'])).toEqual({
      kind: 'run',
      options: { requests: 7, load: true, report: 'a b', seed: 8 },
      words: [],
    });
    expect(parseTool(tool, ['--seed', '8'])).toMatchObject({ options: { requests: 100, load: false, seed: 8 } });
  });

  it('lists the options with their defaults', () => {
    expect(parseTool(tool, ['--load', '--help'])).toEqual({
      kind: 'help',
      text: `Usage: npm run fuzz -- [options]

Sends requests.

  --requests VALUE  requests to send (default: 100)
  --load            keeps all processors busy
  --report VALUE    file for the table
  --seed VALUE      repeats the run that printed this seed
  --help            prints this`,
    });
  });

  it.each([
    [['--sed', '8'], 'There is no option --sed.'],
    [['-x'], 'There is no option -x.'],
    [['--requests'], 'The option --requests needs a value.'],
    [['--requests', 'many'], 'The option --requests must be a whole number, not "many".'],
    [['--requests', '--load'], 'The option --requests must be a whole number, not "--load".'],
    [['--requests', '-1'], 'The option --requests must be a whole number, not "-1".'],
    [['--load=yes'], 'The option --load takes no value.'],
    [['--no-load'], 'There is no option --no-load.'],
    [['jobs'], 'The argument "jobs" is not known.'],
    [['--constructor'], 'There is no option --constructor.'],
  ])('says what is wrong with %j', (args, problem) => {
    expect(refusal(...args)).toBe(`${problem} ${hint}`);
  });

  it('takes words only where a tool has some, and only those it knows', () => {
    const words = { name: 'BENCH', known: ['search', 'steps'] };
    expect(parseTool({ ...tool, words }, ['search', '--load'])).toMatchObject({ kind: 'run', words: ['search'] });
    expect(parseTool({ ...tool, words }, ['other'])).toMatchObject({ kind: 'refused' });
    expect(parseTool({ ...tool, words: { name: 'SCENE' } }, ['other'])).toMatchObject({ words: ['other'] });
  });
});
