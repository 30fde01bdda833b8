import { lazy, Suspense, useSyncExternalStore } from 'react';
import type { Session } from '../http/types.ts';
import { areNotificationsOn, notificationProblem, onNotificationSetting, switchNotifications } from './setting.ts';

const JobNotifications = lazy(() =>
  import('./job-notifications.tsx').then(({ JobNotifications }) => ({ default: JobNotifications })),
);

/** Switches notifications of jobs that the user started or has looked at in this tab. */
export function NotificationSwitch({ session }: { session: Session }) {
  const isOn = useSyncExternalStore(onNotificationSetting, areNotificationsOn);
  const problem = useSyncExternalStore(onNotificationSetting, notificationProblem);
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
