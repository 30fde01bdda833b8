import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { createAnswerEndings } from '../../../../api/assistant/answer-endings.ts';
import { createMetrics } from '../../../../api/http/metrics.ts';

const figures = {
  jobs: [{ status: 'active', count: 2 }],
  waiting: 1,
  oldestWaitingSeconds: 3,
  unstarted: 0,
  pendingDeliveries: 0,
  workers: 1,
  inputTokens: 10,
  outputTokens: 20,
  costMicros: 2_500_000,
};

it('queries the database at most every few seconds, however many clients scrape', async () => {
  let reads = 0;
  let time = 0;
  const read = () => Promise.resolve({ ...figures, waiting: (reads += 1) });
  const metrics = createMetrics({ figures: { read }, now: () => time });
  await Promise.all([metrics.text(), metrics.text()]);
  expect(reads).toBe(1);
  time = 6_000;
  expect(await metrics.text()).toContain('docket_jobs_waiting 2');
  expect(await metrics.text()).toContain('docket_model_cost_dollars_total 2.5');
});

it('has every metric that the Grafana dashboard and the alerts name', async () => {
  const metrics = createMetrics({ figures: { read: () => Promise.resolve(figures) } });
  metrics.observeRequest({ method: 'GET', route: '/', status: 200, seconds: 0.1 });
  metrics.registry.registerMetric(createAnswerEndings());
  const text = await metrics.text();
  const dashboard: { panels: { targets: { expr: string }[] }[] } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../../../deploy/grafana/docket.json'), 'utf8'),
  );
  const rules: { groups: { rules: { expr: string }[] }[] } = parse(
    readFileSync(join(import.meta.dirname, '../../../../deploy/prometheus/docket.rules.yml'), 'utf8'),
  );
  const [shown, watched] = [
    dashboard.panels.flatMap(({ targets }) => targets),
    rules.groups.flatMap((one) => one.rules),
  ];
  const names = [...shown, ...watched].flatMap(({ expr }) => expr.match(/docket_\w+/g) ?? []);
  expect([shown.length, watched.length].every((count) => count > 4)).toBe(true);
  // an alert on a value is silent while no process is scraped
  expect(watched.map(({ expr }) => expr)).toContain('absent(docket_database_up)');
  for (const name of names) expect(text).toMatch(new RegExp(`^${name}[ {]`, 'm'));
});
