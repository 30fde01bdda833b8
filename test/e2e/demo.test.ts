import { describe, expect, it, vi } from 'vitest';
import { livingOf, runDemo } from '../support/stack/demo.ts';

vi.setConfig({ testTimeout: 600_000 }); // a whole stack each, on a slow machine

describe('npm run demo', () => {
  it('stops everything on Ctrl-C', async () => {
    await using demo = await runDemo();
    await demo.said('POST ');
    const stack = await demo.readLocalJson();
    demo.child.kill('SIGINT');
    expect(await demo.ended).toBe(1);
    expect(demo.output()).toContain('Interrupted; everything has stopped.');
    expect(await livingOf(stack)).toEqual([]);
  });

  it('also stops on Ctrl-C while its servers are starting', async () => {
    await using demo = await runDemo();
    await demo.said('Starting the stack');
    demo.child.kill('SIGINT');
    expect(await demo.ended).toBe(1);
    expect(demo.output()).toContain('Interrupted; everything has stopped.');
  });
});
