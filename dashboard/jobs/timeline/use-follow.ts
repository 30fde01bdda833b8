import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState, type RefObject } from 'react';

export interface Follow {
  /** Element at the end of what is followed. */
  end: RefObject<HTMLDivElement | null>;
  isFollowing: boolean;
  start(): void;
  stop(): void;
}

interface FollowOptions {
  isActive: boolean;
  /** Changes as the conversation grows. */
  height: number;
  /** Scrolls the end of the conversation into view. */
  onFollow(): void;
}

/** Distance from the end, in pixels, at which a reader has reached it. */
const tolerance = '0px 0px 100px';

/**
 * Keeps the end of the conversation in view while the job is active. It begins when the reader reaches the end, and stops
 * when the reader scrolls up or goes to a step.
 */
export function useFollow({ isActive, height, onFollow }: FollowOptions): Follow {
  const end = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(false);
  const scroll = useEffectEvent(onFollow);
  useEffect(() => {
    if (!isActive || end.current === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.at(-1)?.isIntersecting === true) setFollowing(true);
      },
      { rootMargin: tolerance },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [isActive]);
  useEffect(() => {
    if (!isFollowing) return undefined;
    const stop = (event: Event) => {
      if (isUpward(event)) setFollowing(false);
    };
    const events = ['wheel', 'keydown', 'touchmove', 'pointerdown'];
    for (const name of events) addEventListener(name, stop, { passive: true });
    return () => {
      for (const name of events) removeEventListener(name, stop);
    };
  }, [isFollowing]);
  useLayoutEffect(() => {
    if (isActive && isFollowing) scroll();
  }, [isActive, isFollowing, height]);
  return { end, isFollowing, start: () => setFollowing(true), stop: () => setFollowing(false) };
}

function isUpward(event: Event): boolean {
  if (event instanceof WheelEvent) return event.deltaY < 0;
  if (event instanceof KeyboardEvent) return ['ArrowUp', 'PageUp', 'Home'].includes(event.key);
  // a press on the page itself is one on its scroll bar
  return event.type === 'touchmove' || event.target === document.documentElement;
}
