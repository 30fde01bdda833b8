import { expect, it, vi } from 'vitest';
import { printJobReport } from '../../../cli/replay/print-job.ts';
import type { JobReport, StepReport } from '../../../worker/replay/job-report.ts';

const step = {
  turn: 1,
  step: 1,
  isCopied: false,
  said: [],
  text: 'Done.',
  toolCalls: [],
  toolResults: null,
  files: [],
  modelMs: 10,
  toolsMs: null,
  waitingMs: null,
  attempts: 1,
  lastFailures: [],
  modelFailures: 0,
  finishReason: 'stop',
  inputTokens: 1,
  outputTokens: 1,
  costMicros: 0,
} satisfies StepReport;

function printed(steps: StepReport[], message: string): string {
  const spoken = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  try {
    const turn = {
      turn: 1,
      prompt: 'Do it.',
      status: 'completed',
      isCopied: false,
      startedAt: '2026-01-01T00:00:00Z',
      endedAt: '2026-01-01T00:00:01Z',
      replay: { verdict: null, reason: 'The turn was not replayed.' },
      failure: null,
      message,
      steps,
    };
    const job = { id: 'job_1', status: 'completed', model: 'm', repository: '/r', prLink: null, forkedFrom: null };
    printJobReport({ job, turns: [turn] } as unknown as JobReport, 'job_1');
    return spoken.mock.calls.map(([line]) => `${String(line)}\n`).join('');
  } finally {
    spoken.mockRestore();
  }
}

it('uses the singular for one step, and the plural for more', () => {
  expect(printed([step], '')).toContain('  1 step; ');
  expect(printed([step, { ...step, step: 2 }], '')).toContain('  2 steps; ');
});

it('counts no step and no price for a call that was never answered', () => {
  const priced = { ...step, costMicros: 120_000 };
  const refused = { ...step, step: 2, finishReason: null, inputTokens: 0, outputTokens: 0, costMicros: null };
  expect(printed([priced, refused], '')).toContain('  1 step; 1 tokens in and 1 out; $0.1200; ');
  expect(printed([priced, { ...refused, finishReason: 'stop' }], '')).toContain('at an unknown price');
});

it('prints the agent’s message on separate lines', () => {
  expect(printed([step], 'Two files:\n\n- a.txt\n- b.txt')).toContain('\n  Two files:\n\n  - a.txt\n  - b.txt\n');
});
