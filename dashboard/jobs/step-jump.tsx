import { useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useState } from 'react';
import { Button } from 'react-aria-components';
import { count } from '../format.ts';
import type { Step } from '../http/types.ts';
import { anchorOf, stepNamed } from './timeline.ts';

interface StepJumpProps {
  steps: Step[];
  isActive: boolean;
  onJump(anchor: string): void;
  /** Shows the newest step. */
  onFollow(): void;
}

/**
 * Jumps to a step by its number, because the browser's own search finds only visible steps. Can follow a running job.
 */
export function StepJump({ steps, isActive, onJump, onFollow }: StepJumpProps) {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [isFollowing, setFollowing] = useState(false);
  const [isUnknown, setUnknown] = useState(false);
  const last = steps.at(-1);
  const follow = useEffectEvent(onFollow);
  useEffect(() => {
    if (isActive && isFollowing) follow();
  }, [isActive, isFollowing, steps.length]);
  const go = (step: Step | null | undefined) => {
    setUnknown(step === null);
    if (step === null || step === undefined) return;
    setFollowing(false);
    void navigate({ to: '.', hash: anchorOf(step), replace: true, resetScroll: false, hashScrollIntoView: false });
    onJump(anchorOf(step));
  };
  return (
    <form
      className="step-jump"
      onSubmit={(event) => {
        event.preventDefault();
        go(stepNamed(text, steps));
      }}
    >
      <label>
        <span>Go to step</span>
        <input
          className="input"
          inputMode="decimal"
          value={text}
          placeholder={`1 – ${last?.step ?? 1}`}
          aria-describedby="step-jump-hint"
          aria-invalid={isUnknown}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
      <Button type="submit" className="button">
        Go
      </Button>
      <Button className="button button-quiet" onPress={() => go(steps[0])}>
        First
      </Button>
      {isActive ? (
        <Button className="button button-quiet" aria-pressed={isFollowing} onPress={() => setFollowing(!isFollowing)}>
          Follow
        </Button>
      ) : (
        <Button className="button button-quiet" onPress={() => go(last)}>
          Last
        </Button>
      )}
      <span className="hint" id="step-jump-hint" role="status">
        {isUnknown ? 'No such step.' : `${count(steps.length)} steps; 1.20 is step 20 of turn 1`}
      </span>
    </form>
  );
}
