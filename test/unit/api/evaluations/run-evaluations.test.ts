import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { createEvaluationRuns } from '../../../../api/evaluations/run-evaluations.ts';
import { budgetSpent } from '../../../../api/http/errors.ts';

it("continues when the organization's budget may have room again", async () => {
  const evaluation = {
    id: 'evl_1',
    failures: 0,
    domain: 'acme',
    done: [],
    questions: [{ text: 'What?', history: [] }],
    configurations: [{ model: 'compatible/x', instructions: null, retrievalPageSize: 5 }],
  };
  const claim = vi.fn().mockResolvedValueOnce(evaluation).mockResolvedValue(null);
  const postpone = vi.fn(async () => undefined);
  const carryOut = createEvaluationRuns({
    evaluationRuns: { claim, postpone } as never,
    sites: { findByDomain: async () => ({ id: 'site_1', indexVersion: 1 }) as never },
    indexes: { lease: async () => ({ version: 1, index: {}, release: () => undefined }) as never },
    assistantOf: () => ({ reply: () => Promise.reject(budgetSpent(30)) }),
    log: pino({ level: 'silent' }),
    stopping: new AbortController().signal,
  });
  await carryOut();
  const notice = expect.stringContaining('Try again when they are done');
  expect(postpone).toHaveBeenCalledWith('evl_1', { seconds: 30, notice, isFailure: false });
});
