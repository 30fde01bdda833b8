/**
 * Key under which this browser remembers the organization that a user is signed in to. The session itself is in a cookie
 * that scripts cannot read.
 */
const key = 'docket-signed-in';

export function noteSignedIn(organizationId: string): void {
  localStorage.setItem(key, organizationId);
}

/** Records a deliberate sign-out, after which no notice that the session has ended is needed. */
export function noteSignedOut(): void {
  localStorage.removeItem(key);
}

/** Calls back when another tab of this browser signs out. */
export function onSignedOutElsewhere(callback: () => void): void {
  addEventListener('storage', (event) => {
    if (event.key === key && event.newValue === null) callback();
  });
}

/** Calls back when another tab of this browser switches to another organization. */
export function onSwitchedElsewhere(callback: () => void): void {
  addEventListener('storage', ({ key: changed, oldValue, newValue }) => {
    if (changed === key && oldValue !== null && newValue !== null && oldValue !== newValue) callback();
  });
}

/** Reports whether a user was signed in and has not signed out. */
export function wasSignedIn(): boolean {
  return localStorage.getItem(key) !== null;
}
