import { watch } from 'node:fs';
import { join } from 'node:path';

const quietMs = 200;

/** Source folders by the process that runs their code. */
const folders = {
  api: ['api'],
  worker: ['worker', 'activities', 'workflows'],
  both: ['db', 'lib', 'models', 'search', 'workflows/contract'],
} as const;

/** Calls `onChange` when code of the API or the worker has changed and no further change follows for a moment. */
export function watchSources(checkout: string, onChange: (target: 'api' | 'worker') => void): Disposable {
  const timers = new Map<'api' | 'worker', NodeJS.Timeout>();
  const changed = (target: 'api' | 'worker') => {
    clearTimeout(timers.get(target));
    timers.set(
      target,
      setTimeout(() => onChange(target), quietMs),
    );
  };
  const observe = (folder: string, targets: readonly ('api' | 'worker')[]) =>
    watch(join(checkout, folder), { recursive: true }, (_event, file) => {
      if (file === null || /\.(ts|sql)$/.test(file)) for (const target of targets) changed(target);
    });
  const watchers = [
    ...folders.api.map((folder) => observe(folder, ['api'])),
    ...folders.worker.map((folder) => observe(folder, ['worker'])),
    ...folders.both.map((folder) => observe(folder, ['api', 'worker'])),
  ];
  return {
    [Symbol.dispose]() {
      for (const watcher of watchers) watcher.close();
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
