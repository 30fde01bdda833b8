/** The browser globals that modules of the dashboard read when they are imported. */
Object.assign(globalThis, { location: new URL('https://docket.example.com'), addEventListener: () => {} });
