import { setInterval, setTimeout } from 'node:timers';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded before a child's own code: ends the process when its supervisor is gone, however that went. Processes that the child
 * starts itself do not find the variable, and its threads are not asked.
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
