import { lazy, Suspense, useSyncExternalStore } from 'react';
import type { Session } from '../http/types.ts';
import { createListeners } from '../widget/listeners.ts';

const key = 'docket-notifications';
const listeners = createListeners();

/** Why the last click switched nothing on; null when it did, or before. */
let problem: string | null = null;

/** Returns whether this browser shows notifications of jobs. */
function areNotificationsOn(): boolean {
  return localStorage.getItem(key) === 'on' && 'Notification' in window && Notification.permission === 'granted';
}

function notificationProblem(): string | null {
  return problem;
}

/** Asks the browser for its permission if it does not have it. Call this on a click only. */
async function switchNotifications(on: boolean): Promise<void> {
  problem = on ? await askForPermission() : null;
  if (on && problem === null) localStorage.setItem(key, 'on');
  else localStorage.removeItem(key);
  listeners.call();
}

/** Returns why the browser does not permit notifications; null if it does. */
async function askForPermission(): Promise<string | null> {
  if (!isSecureContext) return 'The browser allows notifications over HTTPS only.';
  if (!('Notification' in window)) return 'This browser has no notifications.';
  switch (await Notification.requestPermission()) {
    case 'granted':
      return null;
    case 'denied':
      return 'The browser blocks notifications from this site. Allow them in its site settings.';
    case 'default':
      return 'The browser did not allow notifications. Switch them on again, then allow them.';
  }
}

const JobNotifications = lazy(() =>
  import('./job-notifications.tsx').then(({ JobNotifications }) => ({ default: JobNotifications })),
);

/** Switches notifications of jobs that the user started or has looked at in this tab. */
export function NotificationSwitch({ session }: { session: Session }) {
  const isOn = useSyncExternalStore(listeners.add, areNotificationsOn);
  const problem = useSyncExternalStore(listeners.add, notificationProblem);
  return (
    <div>
      {/* the browser's own check box: every page has this one, and the forms' would be loaded for it */}
      <label className="checkbox">
        <input type="checkbox" checked={isOn} onChange={({ target }) => void switchNotifications(target.checked)} />
        Notify me
      </label>
      <div className="hint" role="status">
        {problem}
      </div>
      {isOn && (
        <Suspense>
          <JobNotifications session={session} />
        </Suspense>
      )}
    </div>
  );
}
