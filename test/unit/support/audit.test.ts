import { expect, it } from 'vitest';
import { verdictOfAudit } from '../../support/audit.ts';

const report = (vulnerabilities: object, counts = {}) =>
  JSON.stringify({ auditReportVersion: 2, vulnerabilities, metadata: { vulnerabilities: counts } });

it('passes only on a report without vulnerabilities', () => {
  expect(verdictOfAudit(report({}, { total: 0 })).exitCode).toBe(0);
  const found = verdictOfAudit(report({ koa: { severity: 'high', via: [] } }, { total: 1 }));
  expect(found).toEqual({ exitCode: 1, said: expect.stringContaining('koa (high)') });
});

it.each(['', 'npm error audit endpoint returned an error', '{"message":"404","error":{}}', '{"metadata":{}}'])(
  'does not accept %j as a report',
  (output) => {
    expect(verdictOfAudit(output)).toEqual({ exitCode: 75, said: expect.stringContaining('SKIPPED') });
  },
);
