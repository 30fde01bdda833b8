/** Defines the browser globals that modules of the dashboard read on import. */
Object.assign(globalThis, { location: new URL('https://docket.example.com'), addEventListener: () => {} });
