// Loaded before a process's own code: shifts its clock by a number of milliseconds.
const shiftMs = Number(process.env['CHAOS_CLOCK_SHIFT_MS'] ?? 0);
const Right = Date;

if (shiftMs !== 0) {
  globalThis.Date = new Proxy(Right, {
    construct(target, args: []) {
      return args.length === 0 ? new target(target.now() + shiftMs) : new target(...args);
    },
    apply: (target) => new target(target.now() + shiftMs).toString(),
    get: (target, key) => (key === 'now' ? () => target.now() + shiftMs : Reflect.get(target, key)),
  });
}
