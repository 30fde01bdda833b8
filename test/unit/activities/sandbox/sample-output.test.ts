import { PassThrough } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { sampleBytes, sampleOutput, type OutputSample } from '../../../../activities/sandbox/sample-output.ts';

it('passes on everything a slow command prints, and the newest part of what a fast one does', async () => {
  const stream = new PassThrough({ highWaterMark: 1024 * 1024 });
  const samples: OutputSample[] = [];
  sampleOutput(stream, (sample) => samples.push(sample));
  stream.write('slow\n');
  await expect.poll(() => samples.length).toBe(1);
  for (let at = 0; at < 40; at += 1) stream.write(Buffer.alloc(4_096, at));
  stream.end();
  await wait(0);
  await expect.poll(() => samples.length).toBe(2);
  const [slow, fast] = samples;
  expect(slow).toEqual({ skipped: 0, bytes: Buffer.from('slow\n') });
  expect(fast?.bytes).toHaveLength(sampleBytes);
  expect(fast?.bytes.at(-1)).toBe(39);
  expect(fast?.skipped).toBe(40 * 4_096 - sampleBytes);
});
