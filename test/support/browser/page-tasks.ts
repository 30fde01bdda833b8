import type { Browser, Page } from 'playwright-core';

/** The longest task of a page's main thread, in milliseconds. */
export interface LongestTask {
  /** CPU time of the thread, without other processes of the machine. */
  cpuMs: number;
  /** Elapsed time, including that of other processes. */
  wallMs: number;
}

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  dur?: number;
  tdur?: number;
  args?: { name?: string };
}

/** Measures the tasks of a page while something happens to it, from Chromium's own trace. */
export async function longestTaskOf(browser: Browser, page: Page, work: () => Promise<void>): Promise<LongestTask> {
  await browser.startTracing(page, { categories: ['__metadata', 'toplevel', 'disabled-by-default-devtools.timeline'] });
  let trace: Buffer;
  try {
    await work();
  } finally {
    trace = await browser.stopTracing();
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = traceEvents.filter(({ name, pid, tid }) => name === 'RunTask' && mains.has(`${pid} ${tid}`));
  if (tasks.length === 0) throw new Error('The trace of the browser tells no task of a page.');
  const most = (times: (number | undefined)[]) =>
    times.reduce<number>((max, time = 0) => Math.max(max, time), 0) / 1_000;
  return { cpuMs: most(tasks.map(({ tdur }) => tdur)), wallMs: most(tasks.map(({ dur }) => dur)) };
}
