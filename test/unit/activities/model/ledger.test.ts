import { expect, it } from 'vitest';
import { emptyLedger, ledgerAfter, ledgerText } from '../../../../activities/model/ledger.ts';
import { buildStep } from '../build-step.ts';

function buildCall(toolName: string, input: unknown, output: string, isError = false) {
  const toolCallId = JSON.stringify([toolName, input]);
  return buildStep({
    toolCalls: [{ toolCallId, toolName, input }],
    toolResults: [{ toolCallId, toolName, output, isError }],
  });
}

it('the ledger names files read and changed with their newest etag, and the newest todo list', () => {
  const first = ledgerAfter(emptyLedger, [
    buildCall('read', { path: 'a.ts' }, 'a.ts (3 lines, 12 B, etag abc123def)\n     1|a'),
    buildCall('read', { path: 'b.ts' }, 'b.ts (1 line, 2 B, etag 111111)'),
    buildCall('read', { path: 'gone.ts' }, 'There is no gone.ts.', true),
    buildCall('todo', { items: [{ text: 'Old', done: false }] }, ''),
  ]);
  const ledger = ledgerAfter(first, [
    buildCall('edit', { path: 'a.ts', old: 'a', new: 'b' }, 'Edited a.ts: one place. etag 222222'),
    buildCall('write', { path: 'c.ts', content: '' }, 'Refused.', true),
    buildCall('delete', { path: 'b.ts' }, 'Deleted b.ts.'),
    buildCall('todo', { items: [{ text: 'New', done: true }] }, ''),
  ]);
  expect(ledger).toEqual({
    read: { 'a.ts': '222222' },
    changed: ['a.ts', 'b.ts'],
    todo: [{ text: 'New', done: true }],
  });
  expect(ledgerText(ledger)).toContain('- a.ts (etag 222222)');
  expect(ledgerText(emptyLedger)).toBe('');
});
