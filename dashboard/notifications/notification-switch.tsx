import { useSyncExternalStore } from 'react';
import { Check } from '../components/fields.tsx';
import type { Session } from '../http/types.ts';
import { JobNotifications } from './job-notifications.tsx';
import { areNotificationsOn, notificationProblem, onNotificationSetting, switchNotifications } from './setting.ts';

/** Switches notifications of jobs that the user started or has looked at in this tab. */
export function NotificationSwitch({ session }: { session: Session }) {
  const isOn = useSyncExternalStore(onNotificationSetting, areNotificationsOn);
  const problem = useSyncExternalStore(onNotificationSetting, notificationProblem);
  return (
    <div>
      <Check label="Notify me" isSelected={isOn} onChange={(on) => void switchNotifications(on)} />
      <div className="hint" role="status">
        {problem}
      </div>
      {isOn && <JobNotifications session={session} />}
    </div>
  );
}
