/** What modules of the dashboard read of a browser when they are imported. */
Object.assign(globalThis, { location: new URL('https://docket.example.com'), addEventListener: () => {} });
