import { expect, it } from 'vitest';
import { runRepliesChaos } from '../../suites/chaos/replies.ts';

it(
  'no reply is lost, duplicated or left hanging while connections are cut and the API is killed',
  { timeout: 600_000 },
  async () => {
    expect(await runRepliesChaos(['--runs', '20', '--kills', '2', '--hang-seconds', '120', '--seed', '5'])).toBe(0);
  },
);
