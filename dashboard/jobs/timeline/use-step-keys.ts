import { useEffect, useRef, type RefObject } from 'react';
import type { Step } from '../../http/types.ts';
import { isForOthers } from '../../components/palette/shortcuts.tsx';
import { anchorOf } from './timeline.ts';
import { useKeys } from '../../use-keys.ts';

interface StepKeys {
  list: RefObject<HTMLDivElement | null>;
  steps: Step[];
  /** Step named by the address. */
  hash: string;
  onGo(step: Step): void;
}

/** Moves between steps with J and K, and focuses the step. Without one in the address, J begins with the first visible one. */
export function useStepKeys({ list, steps, hash, onGo }: StepKeys): void {
  const wanted = useRef<string>(null);
  useKeys((event) => {
    if (isForOthers(event) || (event.key !== 'j' && event.key !== 'k')) return;
    const at = steps.findIndex((step) => anchorOf(step) === hash);
    const next = at === -1 ? firstVisible(list.current, steps) : steps[at + (event.key === 'j' ? 1 : -1)];
    if (next === undefined) return;
    wanted.current = anchorOf(next);
    onGo(next);
  });
  // a step far away is rendered some frames later
  useEffect(() => {
    const link = wanted.current === null ? null : document.querySelector<HTMLElement>(`#${wanted.current} .step-name`);
    if (link === null) return;
    wanted.current = null;
    link.focus({ preventScroll: true });
  });
}

function firstVisible(list: HTMLElement | null, steps: Step[]): Step | undefined {
  const shown = [...(list?.querySelectorAll('.step') ?? [])].filter((step) => step.getBoundingClientRect().top >= 0);
  const ids = new Set(shown.map(({ id }) => id));
  return steps.find((step) => ids.has(anchorOf(step)));
}
