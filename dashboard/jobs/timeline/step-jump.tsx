import { useState } from 'react';
import { Button } from 'react-aria-components';
import { count } from '../../format.ts';
import type { Step } from '../../http/types.ts';
import { stepNamed } from './timeline.ts';
import type { Follow } from './use-follow.ts';

interface StepJumpProps {
  steps: Step[];
  isActive: boolean;
  follow: Follow;
  onGo(step: Step): void;
}

/** Follows a running job, and jumps to a step of a long one by its number. The browser's own search finds only visible steps. */
export function StepJump({ steps, isActive, follow, onGo }: StepJumpProps) {
  const [text, setText] = useState('');
  const [isUnknown, setUnknown] = useState(false);
  const last = steps.at(-1);
  const { isFollowing } = follow;
  const go = (step: Step | null | undefined) => {
    setUnknown(step === null);
    if (step !== null && step !== undefined) onGo(step);
  };
  return (
    <form
      className="step-jump"
      onSubmit={(event) => {
        event.preventDefault();
        go(stepNamed(text, steps));
      }}
    >
      {steps.length > 10 && (
        <>
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
          {!isActive && (
            <Button className="button button-quiet" onPress={() => go(last)}>
              Last
            </Button>
          )}
        </>
      )}
      {isActive && (
        <Button
          className="button button-quiet"
          aria-pressed={isFollowing}
          onPress={() => (isFollowing ? follow.stop() : follow.start())}
        >
          Follow
        </Button>
      )}
      {steps.length > 10 && (
        <span className="hint" id="step-jump-hint" role="status">
          {isUnknown ? 'No such step.' : `${count(steps.length)} steps; 1.20 is step 20 of turn 1`}
        </span>
      )}
    </form>
  );
}
