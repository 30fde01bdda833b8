import { setInterval, setTimeout } from 'node:timers';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded before a child's own code. Ends the process when its supervisor is gone, for whatever reason. The variable is
 * not passed on to processes that the child starts, and its threads are skipped.
 */
const supervisor = Number(process.env['DOCKET_SUPERVISOR_PID']);
const checkMs = 500;
const graceMs = 5_000;

if (isMainThread && supervisor > 0) {
  delete process.env['DOCKET_SUPERVISOR_PID'];
  const timer = setInterval(() => {
    if (process.ppid === supervisor) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), graceMs).unref();
  }, checkMs);
  timer.unref();
}
