/** What this browser remembers: that somebody is signed in. The session itself is in a cookie no script can read. */
const key = 'docket-signed-in';

export function noteSignedIn(): void {
  localStorage.setItem(key, 'yes');
}

/** For who signs out: that the session is over is no news to them. */
export function noteSignedOut(): void {
  localStorage.removeItem(key);
}

/** Calls back when another tab of this browser signs out. */
export function onSignedOutElsewhere(callback: () => void): void {
  addEventListener('storage', (event) => {
    if (event.key === key && event.newValue === null) callback();
  });
}

/** Whether somebody was signed in who has not signed out. */
export function wasSignedIn(): boolean {
  return localStorage.getItem(key) !== null;
}
