import { describe, expect, it } from 'vitest';
import { visitDashboard } from '../../support/browser/dashboard.ts';
import { insertActiveJob } from '../../support/database/many-jobs.ts';
import { chromiumPath, startForFile } from '../../support/browser/dashboard-of-file.ts';

const shared = startForFile();

describe.runIf(chromiumPath !== null)('the job list', () => {
  it('shows how long jobs have been queued and running, with one timer for all', async () => {
    const { browser, stack, pool } = shared;
    const { projectId, baseUrl } = stack.localJson;
    const ids = ['job_running', 'job_queued'];
    for (const id of ids) await insertActiveJob(pool, projectId, id);
    await pool.query(`update job_turns set created_at = now() - interval '1 hour' where job_id = 'job_running'`);
    await pool.query(`update jobs set phase = 'queued' where id = 'job_queued'`);
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await page.addInitScript(() => {
      const timers = new Set<unknown>();
      const everySecond = 1_000;
      const { setInterval: set, clearInterval: clear } = globalThis;
      Object.assign(globalThis, {
        timers,
        setInterval: (...given: Parameters<typeof set>) => {
          const timer = set(...given);
          if (given[1] === everySecond) timers.add(timer);
          return timer;
        },
        clearInterval: (timer: Parameters<typeof clear>[0]) => {
          timers.delete(timer);
          clear(timer);
        },
      });
    });
    await page.goto(`${baseUrl}/jobs`);
    const cell = (id: string) => page.locator(`[data-job='${id}'] .row-elapsed`);
    await expect
      .poll(() => cell('job_running').innerText(), { timeout: 60_000 })
      .toMatch(/^running for\s+1 h 0\d min$/);
    const queued = () => cell('job_queued').innerText();
    await expect.poll(queued, { timeout: 60_000 }).toMatch(/^queued for\s+\d+ s$/);
    const before = await queued();
    await expect.poll(queued, { timeout: 60_000 }).not.toBe(before);
    expect(await page.evaluate(() => (globalThis as unknown as { timers: Set<unknown> }).timers.size)).toBe(1);
    await page.setViewportSize({ width: 390, height: 844 });
    await cell('job_running').waitFor();
    expect(visit.complaints).toEqual([]);
    await pool.query(`update jobs set status = 'failed', phase = null, ended_at = now() where id = any ($1)`, [ids]);
  });
});
