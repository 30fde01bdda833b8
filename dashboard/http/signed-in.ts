/**
 * Key under which this browser remembers that a user is signed in. The session itself is in a cookie that scripts
 * cannot read.
 */
const key = 'docket-signed-in';

export function noteSignedIn(): void {
  localStorage.setItem(key, 'yes');
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

/** Reports whether a user was signed in and has not signed out. */
export function wasSignedIn(): boolean {
  return localStorage.getItem(key) !== null;
}
