import { useCallback, useMemo, useState } from 'react';
import type { JobFilters } from './filters.ts';

export interface Selection {
  ids: ReadonlySet<string>;
  set(ids: Iterable<string>): void;
  toggle(id: string): void;
}

/** Keeps the ids of the selected jobs. Other filters clear the selection. */
export function useSelection(filters: JobFilters): Selection {
  const { order: _, ...fitting } = filters;
  const list = JSON.stringify(fitting);
  const [selected, setSelected] = useState({ list, ids: new Set<string>() });
  const ids = selected.list === list ? selected.ids : none;
  const set = useCallback((ids: Iterable<string>) => setSelected({ list, ids: new Set(ids) }), [list]);
  const toggle = useCallback(
    (id: string) =>
      setSelected((before) => {
        const ids = new Set(before.list === list ? before.ids : none);
        if (!ids.delete(id)) ids.add(id);
        return { list, ids };
      }),
    [list],
  );
  return useMemo(() => ({ ids, set, toggle }), [ids, set, toggle]);
}

const none: ReadonlySet<string> = new Set<string>();
